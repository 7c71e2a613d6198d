import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { Result, ResultBatch } from '../../proto/gen/probe/v1/result.ts'

/** Field 3 of ResultBatch, length-delimited (result.proto). */
const RESULTS_TAG = (3 << 3) | 2

/**
 * One result as it stands inside a ResultBatch. Encoded once, when it is made: results that wait, in memory or on disk,
 * are small, and a batch is the pieces put together.
 */
export function encodeBatchEntry(result: Result): Uint8Array {
  const writer = new BinaryWriter()
  Result.encode(result, writer.uint32(RESULTS_TAG).fork()).join()
  return writer.finish()
}

/** NATS takes messages of 1 MiB unless its operator says otherwise; half of it leaves room for an operator who is stricter. */
const MAX_BATCH_BYTES = 512 * 1024
export const MAX_BATCH_RESULTS = 500

/** How many of the first items make one batch: at least one, at most 500, within what NATS takes in a message. */
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

/** The bytes of a ResultBatch made of encoded results, in their order. */
export function encodeBatch(probeId: string, region: string, pieces: readonly Uint8Array[]): Uint8Array {
  const head = ResultBatch.encode({ probeId, region, results: [] }).finish()
  return Buffer.concat([head, ...pieces])
}
