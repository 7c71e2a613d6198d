import { type ObjectStore as Bucket, type ObjectResult, Objm } from '@nats-io/obj'
import type { Nats } from '../nats/client.ts'
import { withTimeout } from '../time/clock.ts'

/** Files by key, in the store that the operator configured. All methods reject while the store is unreachable. */
export type ObjectStore = {
  put(key: string, bytes: Buffer, contentType: string): Promise<void>
  /** null when there is no such file */
  get(key: string): Promise<Buffer | null>
  /** No error when there is no such file. */
  remove(key: string): Promise<void>
}

const ANSWER_TIMEOUT_MS = 10_000
const RECHECK_INTERVAL_MS = 250

/** A bucket of NATS, created at its first use when it is missing. */
export function createNatsObjectStore(nats: Nats, name: string): ObjectStore {
  let opening: Promise<Bucket> | null = null

  function bucket(): Promise<Bucket> {
    opening ??= new Objm(nats.js).create(name).catch(error => {
      opening = null
      throw error
    })
    return opening
  }

  return {
    async put(key, bytes) {
      const store = await bucket()
      await awaitAnswer(store.putBlob({ name: key }, bytes))
    },
    async get(key) {
      const store = await bucket()
      const stopping = new AbortController()
      return awaitAnswer(readNewest(store, key, stopping.signal)).finally(() => stopping.abort())
    },
    async remove(key) {
      const store = await bucket()
      if (await awaitAnswer(store.info(key))) await awaitAnswer(store.delete(key))
    },
  }
}

/** An object's chunks are deleted when another object gets its key: reading then starts again with the new object. */
async function readNewest(store: Bucket, key: string, stopped: AbortSignal): Promise<Buffer | null> {
  while (!stopped.aborted) {
    const found = await store.get(key)
    if (found === null) return null
    const bytes = await readUnlessReplaced(store, key, found, stopped)
    if (bytes !== null) return bytes
  }
  return null
}

/** Null when the object was replaced meanwhile. The client library would wait for ever for a deleted chunk. */
async function readUnlessReplaced(
  store: Bucket,
  key: string,
  { info, data, error }: ObjectResult,
  stopped: AbortSignal,
): Promise<Buffer | null> {
  // the stream reports the error as well
  error.catch(() => {})
  const isReplaced = async () => (await store.info(key))?.revision !== info.revision
  const reader = data.getReader()
  const chunks: Uint8Array[] = []
  try {
    let next = reader.read()
    while (!stopped.aborted) {
      const chunk = await withTimeout(next, RECHECK_INTERVAL_MS)
      if (chunk?.done) return Buffer.concat(chunks)
      if (chunk) {
        chunks.push(chunk.value)
        next = reader.read()
      } else if (await isReplaced()) return null
    }
    return null
  } catch (error) {
    if (await isReplaced()) return null
    throw error
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function awaitAnswer<T>(work: Promise<T>): Promise<T> {
  const answer = await withTimeout(
    work.then(value => ({ value })),
    ANSWER_TIMEOUT_MS,
  )
  if (answer === null) throw new Error('the object store does not answer')
  return answer.value
}
