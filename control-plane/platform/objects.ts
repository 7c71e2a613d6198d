import { type ObjectStore as Bucket, Objm } from '@nats-io/obj'
import { sleep } from './clock.ts'
import type { Nats } from './nats.ts'

/** Files by key, in whichever store the operator has chosen. Everything rejects while the store is away. */
export type ObjectStore = {
  put(key: string, bytes: Buffer, contentType: string): Promise<void>
  /** null when there is none */
  get(key: string): Promise<Buffer | null>
  /** No error when there is none. */
  remove(key: string): Promise<void>
}

const WITHIN_MS = 10_000

/** A bucket of NATS, made where it is missing when it is first used. */
export function createNatsObjects(nats: Nats, name: string): ObjectStore {
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
      await inTime(store.putBlob({ name: key }, bytes))
    },
    async get(key) {
      const store = await bucket()
      const bytes = await inTime(store.getBlob(key))
      return bytes === null ? null : Buffer.from(bytes)
    },
    async remove(key) {
      const store = await bucket()
      if (await inTime(store.info(key))) await inTime(store.delete(key))
    },
  }
}

/** The client waits for ever for a chunk that is gone. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const waiting = new AbortController()
  const late = sleep(WITHIN_MS, waiting.signal).then(() => {
    throw new Error('the object store does not answer')
  })
  // lost to the work, its rejection is nobody's
  late.catch(() => {})
  return Promise.race([work, late]).finally(() => waiting.abort())
}
