import { type ObjectStore as Bucket, type ObjectResult, Objm } from '@nats-io/obj'
import { bucketStream } from '../../../../shared/nats/subjects.ts'
import { fitIntoRoom, type Nats } from '../nats/client.ts'
import { withTimeout } from '../time/clock.ts'

/** Files by key, in the store that the operator configured. All methods reject while the store is unreachable. */
export type ObjectStore = {
  /** Rejects with a StoreLimitError when there is no room for it. */
  put(key: string, bytes: Buffer, contentType: string): Promise<void>
  /** null when there is no such file */
  get(key: string): Promise<Buffer | null>
  /** No error when there is no such file. */
  remove(key: string): Promise<void>
  /** How many bytes it can hold; null: not limited, or not known. */
  getMaxBytes(): Promise<number | null>
}

/** The store has no room for a file. A retry fails until files are deleted or its limit is increased. */
export class StoreLimitError extends Error {}

/** `replicas`: of a new bucket. `maxBytes` null: the preferred size, or less where NATS has less room. */
export type ObjectStoreSettings = { replicas: number; maxBytes: number | null }

const ANSWER_TIMEOUT_MS = 10_000
const RECHECK_INTERVAL_MS = 250
const PREFERRED_BYTES = 8 * 1024 ** 3
/** "maximum bytes exceeded" of the bucket, "insufficient storage" and "insufficient resources" of the server */
const FULL_CODES = [10_077, 10_047, 10_023]

/** A bucket of NATS, created at its first use when it is missing. A full one refuses new files. */
export function createNatsObjectStore(
  nats: Nats,
  name: string,
  settings: ObjectStoreSettings = { replicas: 1, maxBytes: null },
): ObjectStore {
  let opening: Promise<Bucket> | null = null

  /**
   * After an error the bucket is opened again: NATS may have lost it, and then it is created. A full one, which refused
   * the file itself, stays open.
   */
  async function use<T>(work: (bucket: Bucket) => Promise<T>): Promise<T> {
    opening ??= openBucket(nats, name, settings)
    const used = opening
    const closeBucket = () => {
      if (opening === used) opening = null
    }
    const bucket = await used.catch(error => {
      closeBucket()
      throw error
    })
    return work(bucket).catch(error => {
      if (!isFull(error)) closeBucket()
      throw error
    })
  }

  return {
    put: (key, bytes) =>
      use(async store => {
        await awaitAnswer(store.putBlob({ name: key }, bytes))
      }).catch(error => {
        if (isFull(error)) throw new StoreLimitError('the bucket is full')
        throw error
      }),
    get: key =>
      use(store => {
        const stopping = new AbortController()
        return awaitAnswer(readNewest(store, key, stopping.signal)).finally(() => stopping.abort())
      }),
    remove: key =>
      use(async store => {
        if (await awaitAnswer(store.info(key))) await awaitAnswer(store.delete(key))
      }),
    getMaxBytes: () =>
      use(async () => {
        const { config } = await awaitAnswer(nats.manager.streams.info(bucketStream(name)))
        return config.max_bytes > 0 ? config.max_bytes : null
      }),
  }
}

const isFull = (error: unknown) => FULL_CODES.includes((error as { code?: number }).code ?? 0)

/** Opens or creates the bucket, and sets its size unless it has one and none is configured. */
async function openBucket(nats: Nats, name: string, { replicas, maxBytes }: ObjectStoreSettings): Promise<Bucket> {
  const { streams } = nats.manager
  const limit = async (max_bytes: number) => {
    const bucket = await new Objm(nats.js).create(name, { replicas, max_bytes })
    const { config } = await streams.info(bucketStream(name))
    const isLimited = maxBytes === null ? config.max_bytes > 0 : config.max_bytes === maxBytes
    if (!isLimited) await streams.update(config.name, { max_bytes })
    return bucket
  }
  if (maxBytes !== null) return limit(maxBytes)
  const found = await fitIntoRoom(share => limit(PREFERRED_BYTES * share))
  return 'value' in found ? found.value : new Objm(nats.js).create(name, { replicas })
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
