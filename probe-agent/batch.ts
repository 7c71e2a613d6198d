import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { Result, ResultBatch } from '../proto/gen/probe/v1/result.ts'

/** Field 3 of ResultBatch, length-delimited (result.proto). */
const RESULTS_TAG = (3 << 3) | 2

/**
 * One result as it stands inside a ResultBatch. Encoded once, when it is made: results that wait, in memory or on disk,
 * are small, and a batch is the pieces put together.
 */
export function encodePiece(result: Result): Uint8Array {
  const writer = new BinaryWriter()
  Result.encode(result, writer.uint32(RESULTS_TAG).fork()).join()
  return writer.finish()
}

/** The bytes of a ResultBatch made of encoded results, in their order. */
export function encodeBatch(probeId: string, region: string, pieces: readonly Uint8Array[]): Uint8Array {
  const head = ResultBatch.encode({ probeId, region, results: [] }).finish()
  return Buffer.concat([head, ...pieces])
}
