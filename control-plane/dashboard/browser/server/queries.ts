import {
  hashKey,
  QueriesObserver,
  type Query,
  QueryClient,
  type QueryKey,
  type QueryObserverOptions,
  type QueryObserverResult,
} from '@tanstack/query-core'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DataQuery, Execute, OperationError } from '../../core/operations.ts'
import type { DocumentState } from '../../core/page-state.ts'
import type { Queries, Result, Results } from '../../core/screen.ts'

/** How often a visible page reads again, with the stream of events and without. */
const LIVE_REFRESH_MS = 60_000
const REFRESH_MS = 15_000
const STALE_MS = 5_000

/** A failed read, as query-core wants it. */
class ReadError extends Error {
  constructor(readonly error: OperationError) {
    super(error.message)
  }
}

/** The cache of everything that this tab has read. */
export const createCache = () => new QueryClient({ defaultOptions: { queries: { gcTime: 300_000 } } })

const buildKey = ({ name, arguments: args }: DataQuery) => [name, args]

/** Puts what the server read for the page into the cache. */
export function seedCache(cache: QueryClient, queries: Queries, { results }: DocumentState): void {
  for (const [name, query] of Object.entries(queries)) {
    const result = results[name]
    if (result && result.data !== null) cache.setQueryData(buildKey(query), result.data, { updatedAt: result.atMs })
  }
}

/** Reads what a screen needs, before it is opened. Resolves also when a read fails. */
export async function prefetch(cache: QueryClient, execute: Execute, queries: Queries): Promise<void> {
  await Promise.all(Object.values(queries).map(query => cache.prefetchQuery(toOptions(cache, execute, query))))
}

/** The caches that a stream of events keeps up to date. */
const liveCaches = new WeakSet<QueryClient>()

/** Says whether changes on the server arrive as events, so that reading again is needed less often. */
export function setLive(cache: QueryClient, isLive: boolean): void {
  if (isLive) {
    liveCaches.add(cache)
    return
  }
  // what waits for its next read would wait as long as with events
  if (liveCaches.delete(cache)) setTimeout(() => liveCaches.has(cache) || readChanged(cache), EVENTS_LOST_MS)
}

/** A stream that is cut is usually open again within this time. */
const EVENTS_LOST_MS = 10_000

/** The reads on their way that began before a change. */
const outdatedReads = new WeakMap<QueryClient, Set<string>>()

/**
 * Reads again what changed on the server, of what the page shows. A read on its way is not cancelled: while changes come faster
 * than answers, none would arrive. It is repeated when its answer is there.
 */
export function readChanged(cache: QueryClient, isChanged: (key: QueryKey) => boolean = () => true): void {
  const predicate = ({ queryKey }: { queryKey: QueryKey }) => isChanged(queryKey)
  markOutdated(cache, predicate)
  void cache.invalidateQueries({ predicate }, { cancelRefetch: false })
}

/**
 * Reads again all that the page shows, after an operation of this page. A read on its way is cancelled. One that cannot be, because
 * it has no data yet or is not shown, is repeated after its end. Resolves without waiting for the repeated ones.
 */
export function readAllAgain(cache: QueryClient): Promise<void> {
  markOutdated(cache, query => query.state.data === undefined || !query.isActive())
  return cache.invalidateQueries()
}

/** Marks the reads on their way that are to be repeated. */
function markOutdated(cache: QueryClient, predicate: (query: Query) => boolean): void {
  const outdated = outdatedReads.get(cache) ?? new Set()
  outdatedReads.set(cache, outdated)
  const onTheirWay = cache.getQueryCache().findAll({ predicate, fetchStatus: 'fetching' })
  for (const { queryHash } of onTheirWay) outdated.add(queryHash)
}

/** Makes a read, and again after its end when something changed meanwhile. */
async function readUpToDate<T>(cache: QueryClient, queryKey: QueryKey, read: () => Promise<T>): Promise<T> {
  const hash = hashKey(queryKey)
  outdatedReads.get(cache)?.delete(hash)
  try {
    return await read()
  } finally {
    // in a task of its own, when this read has ended
    if (outdatedReads.get(cache)?.delete(hash)) setTimeout(() => readChanged(cache, key => hashKey(key) === hash))
  }
}

/** A record that is deleted: the noun of its operations (`StatusPage`), and its id. */
type DeletedRecord = { noun: string; id: string }

const deletedRecords = new WeakMap<QueryClient, DeletedRecord>()

/** Stops reading what a record had while its page is still shown, which would be a 404. Null: everything is read again. */
export const setDeleted = (cache: QueryClient, record: DeletedRecord | null) =>
  void (record ? deletedRecords.set(cache, record) : deletedRecords.delete(cache))

/** Returns the record that an operation deletes; null for other operations. */
export function findDeleted(name: string, args: { path?: object }): DeletedRecord | null {
  const noun = /^delete(.+)/.exec(name)?.[1]
  const id = Object.values(args.path ?? {}).at(-1)
  return noun === undefined || typeof id !== 'string' ? null : { noun, id }
}

function isOfDeleted(cache: QueryClient, { name, arguments: args }: DataQuery): boolean {
  const deleted = deletedRecords.get(cache)
  if (!deleted) return false
  const { path, query } = args as { path?: { id?: string }; query?: object }
  const isFiltered = Object.values(query ?? {}).includes(deleted.id)
  return isFiltered || (path?.id === deleted.id && new RegExp(`^(read|list)${deleted.noun}`).test(name))
}

const toOptions = (cache: QueryClient, execute: Execute, query: DataQuery) => ({
  queryKey: buildKey(query),
  queryFn: () =>
    readUpToDate(cache, buildKey(query), async () => {
      const outcome = await execute(query.name, query.arguments)
      if ('error' in outcome) throw new ReadError(outcome.error)
      return outcome.data as unknown
    }),
  enabled: () => !isOfDeleted(cache, query),
  staleTime: STALE_MS,
  refetchInterval: () => (liveCaches.has(cache) ? LIVE_REFRESH_MS : REFRESH_MS),
  retry: false,
  networkMode: 'always' as const,
})

/**
 * Keeps the results of a screen's queries up to date while it is shown. `address`: the path of the screen and its search. `initial`:
 * what the server read for the first screen, which also has the errors of reads that failed.
 */
export function useResults(
  cache: QueryClient,
  execute: Execute,
  { address, queries }: { address: string; queries: Queries },
  initial: DocumentState['results'],
): Results<Queries> {
  const names = Object.keys(queries)
  const key = JSON.stringify(Object.values(queries).map(buildKey))
  const shown = useRef({ address, results: initial }).current
  // not when only the time moved on, with which "the last 24 hours" become another query
  if (shown.address !== address) Object.assign(shown, { address, results: {} })
  const options = useMemo(
    () => Object.values(queries).map(query => toOptions(cache, execute, query) as QueryObserverOptions),
    [key],
  )
  const observer = useMemo(() => new QueriesObserver(cache, options), [])
  const [, render] = useState<unknown>(null)
  useEffect(() => observer.subscribe(render), [observer])
  useMemo(() => observer.setQueries(options), [options])
  const current = observer.getOptimisticResult(options, undefined)[0]
  // A read that failed, or whose period moved on, is pending while it is read again. Until then its error or its data stay.
  const toCurrent = (name: string, i: number): Result<unknown> =>
    (current[i]!.isPending && shown.results[name]) || toResult(current[i]!)
  shown.results = Object.fromEntries(names.map((name, i) => [name, toCurrent(name, i)]))
  return shown.results as Results<Queries>
}

function toResult({ data, dataUpdatedAt, error }: QueryObserverResult): Result<unknown> {
  return { data: data ?? null, atMs: dataUpdatedAt, error: error instanceof ReadError ? error.error : null }
}

/** After this time without an answer, a read counts as one that did not reach the server. */
const READ_TIMEOUT_MS = 20_000

/** Sends a request. A read ends after 20 s: a connection that is silently lost would keep it waiting for minutes. */
export const fetchInTime: typeof fetch = (input, init) => {
  const isRead = input instanceof Request && input.method === 'GET'
  return fetch(input, isRead ? { ...init, signal: AbortSignal.timeout(READ_TIMEOUT_MS) } : init)
}

/** How long a form waits for what its page reads again. */
const REFRESH_TIMEOUT_MS = 3_000

/** Waits for what is read again after an operation. It may come later than the limit: the operation is done without it. */
export function waitForRefresh(refresh: Promise<unknown>): Promise<unknown> {
  return Promise.race([refresh, new Promise(resolve => setTimeout(resolve, REFRESH_TIMEOUT_MS))])
}
