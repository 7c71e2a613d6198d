import { BinaryReader } from '@bufbuild/protobuf/wire'
import { ResultBatch } from './result.ts'

/** Probes send at most 512 KiB and 500 results in a message (probe-agent/results/batch.ts). */
export const MAX_BATCH_MESSAGE_BYTES = 768 * 1024
const MAX_RESULTS = 5_000
/** Tags, lengths and small numbers. A batch of 512 KiB has about 140,000, if all its fields are short. */
const MAX_NUMBERS = 250_000

/** Decodes a message of results. Throws when it is damaged, or so large that no working probe can have sent it. */
export function decodeResultBatch(data: Uint8Array): ResultBatch {
  if (data.length > MAX_BATCH_MESSAGE_BYTES) {
    throw new Error(`the message has ${data.length} bytes; it may have ${MAX_BATCH_MESSAGE_BYTES}`)
  }
  // a number has at least one byte
  const batch = ResultBatch.decode(data.length > MAX_NUMBERS ? createLimitedReader(data) : data)
  const count = batch.results.length
  if (count > MAX_RESULTS) throw new Error(`the message has ${count} results; it may have ${MAX_RESULTS}`)
  return batch
}

/** Stops after a number of fields: each empty field of two bytes becomes an object of some hundred bytes. */
function createLimitedReader(data: Uint8Array): BinaryReader {
  const reader = new BinaryReader(data)
  const readNumber = reader.uint32.bind(reader)
  let numbers = 0
  reader.uint32 = () => {
    numbers++
    if (numbers > MAX_NUMBERS) throw new Error('the message has too many fields')
    return readNumber()
  }
  return reader
}
