import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { Result, ResultBatch } from '../../proto/gen/probe/v1/result.ts'

/** Field 3 of ResultBatch, length-delimited (result.proto). */
const RESULTS_TAG = (3 << 3) | 2

/**
 * Encodes one result as an entry of a ResultBatch. Each result is encoded once, so that waiting results are small and a
 * batch is a concatenation of entries.
 */
export function encodeBatchEntry(result: Result): Uint8Array {
  const writer = new BinaryWriter()
  Result.encode(result, writer.uint32(RESULTS_TAG).fork()).join()
  return writer.finish()
}

/** Half of the default maximum of NATS (1 MiB), in case a server has a lower limit. */
const MAX_BATCH_BYTES = 512 * 1024
export const MAX_BATCH_RESULTS = 500

/** The number of leading items that fit into one batch: at least one, at most 500, within the size limit. */
export function countBatchEntries(items: readonly { piece: Uint8Array }[]): number {
  let bytes = 0
  let length = 0
  while (length < MAX_BATCH_RESULTS && length < items.length) {
    bytes += items[length]!.piece.length
    if (bytes > MAX_BATCH_BYTES && length > 0) break
    length++
  }
  return length
}

/** The bytes of a ResultBatch with the given encoded results, in their order. */
export function encodeBatch(probeId: string, region: string, pieces: readonly Uint8Array[]): Uint8Array {
  const head = ResultBatch.encode({ probeId, region, results: [] }).finish()
  return Buffer.concat([head, ...pieces])
}
