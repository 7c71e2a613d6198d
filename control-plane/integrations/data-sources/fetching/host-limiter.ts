import { createKeyedLimiter, type KeyedLimiter } from '../../../foundation/platform/concurrency/keyed-limiter.ts'

/** Concurrent fetches from one host. */
const MAX_CONCURRENT_PER_HOST = 8
const MAX_WAITING_PER_HOST = 48
/** Fetches of one project, in flight and waiting, so that a project with many hosts does not use all capacity. */
const MAX_PER_PROJECT = 64
/** A fetch that takes longer, including applying its result, is slow: no source waits behind it. */
const MAX_QUICK_MS = 5_000

export const isQuickFetch = (tookMs: number): boolean => tookMs <= MAX_QUICK_MS

/** Limits the fetches of claimed sources, by the hosts of their URLs and by their projects. */
export const createHostLimiter = <Item extends { url: string; projectId: string }>(): KeyedLimiter<Item> =>
  createKeyedLimiter<Item>({
    getKey: ({ url }) => new URL(url).host,
    getOwner: ({ projectId }) => projectId,
    maxConcurrentPerKey: MAX_CONCURRENT_PER_HOST,
    maxWaitingPerKey: MAX_WAITING_PER_HOST,
    maxPerOwner: MAX_PER_PROJECT,
  })
