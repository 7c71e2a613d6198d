import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { createFairLimiter } from '../../../shared/process/fair-limiter.ts'
import { startTimer } from './time/clock.ts'

/** A request ends after this time, the wait for a connection included. */
const REQUEST_TIMEOUT_MS = 30_000
/** By default, all reads of a request of the API together end after this time. */
const READ_TIMEOUT_MS = 15_000
/** Reads of requests at the same time, of all projects and of one. */
const MAX_CONCURRENT_READS = 8
const MAX_CONCURRENT_READS_PER_PROJECT = 3
const MAX_WAITING_READS_PER_PROJECT = 200
/** More than the reads of requests, so that health checks do not wait for them. */
const MAX_CONNECTIONS = 12

export type Clickhouse = ClickHouseClient & {
  /** for reads of requests; see `readAs` */
  reads: { turns: ReturnType<typeof createFairLimiter>; timeoutMs: number }
}

type ClickhouseOptions = {
  maxConnections?: number
  /** the limit of all reads of a request together */
  readTimeoutMs?: number
}

/** The client of an embedded or external ClickHouse. The path of the URL is the database. See docs/design/storage.md#clickhouse. */
export function createClickhouse(
  url: string,
  { maxConnections = MAX_CONNECTIONS, readTimeoutMs = READ_TIMEOUT_MS }: ClickhouseOptions = {},
): Clickhouse {
  const client = createClient({
    url,
    application: 'picket',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: maxConnections,
    compression: { request: false, response: false },
    // errors are thrown; the client would print them as well
    log: { level: ClickHouseLogLevel.OFF },
  })
  const turns = createFairLimiter({
    maxConcurrent: MAX_CONCURRENT_READS,
    maxConcurrentPerKey: MAX_CONCURRENT_READS_PER_PROJECT,
    maxWaitingPerKey: MAX_WAITING_READS_PER_PROJECT,
    waitTimeoutMs: readTimeoutMs,
    refuse: () => new Error('earlier reads of the history take too long'),
  })
  return Object.assign(client, { reads: { turns, timeoutMs: readTimeoutMs } })
}

/** A read failed: ClickHouse is unreachable, returned an error, or took too long (`isLate`). The cause is the original error. */
export class ClickhouseReadError extends Error {
  readonly isLate: boolean
  constructor(isLate: boolean, cause: unknown) {
    super(`ClickHouse could not be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
    this.isLate = isLate
  }
}

/** Reads that end together, and take the turns of `key`; null: no turns. */
export type ClickhouseShare = { clickhouse: Clickhouse; key: string | null; signal: AbortSignal; timeoutMs: number }

/** What `select` reads from: all of a client for jobs, and a share of it for requests. */
export type ClickhouseSource = Clickhouse | ClickhouseShare

type ShareOptions = {
  /** whose reads take turns: a project, or something else that many can ask for */
  key: string
  /** all reads together end after this time */
  timeoutMs?: number
  /** aborted when the caller has gone */
  signal?: AbortSignal
}

/**
 * Runs `work` with a share of ClickHouse, so that no project takes it from others. Its reads are cancelled after
 * `timeoutMs` and when `signal` aborts, those that still wait for their turn included.
 */
export function readAs<T>(
  clickhouse: Clickhouse,
  { key, timeoutMs = clickhouse.reads.timeoutMs, signal }: ShareOptions,
  work: (share: ClickhouseShare) => Promise<T>,
): Promise<T> {
  return withDeadline(timeoutMs, signal, ending => work({ clickhouse, key, signal: ending, timeoutMs }))
}

/** Rows of a query, values bound as `{name:Type}`. Throws a ClickhouseReadError. */
export async function select<Row>(
  source: ClickhouseSource,
  sql: string,
  parameters: Record<string, unknown> = {},
): Promise<Row[]> {
  const rows: Row[] = []
  for await (const some of streamRows<Row>(source, sql, parameters)) for (const row of some) rows.push(row.json())
  return rows
}

/** The same, a few hundred rows at a time, which are not parsed yet. */
export async function* streamRows<Row>(
  source: ClickhouseSource,
  sql: string,
  parameters: Record<string, unknown> = {},
): AsyncGenerator<{ json(): Row }[]> {
  const { clickhouse, key, signal, timeoutMs } = 'signal' in source ? source : shareOfJob(source)
  let endTurn = () => {}
  try {
    if (key !== null) endTurn = await clickhouse.reads.turns.acquire(key, signal)
    signal.throwIfAborted()
    const answer = await clickhouse.query({
      query: sql,
      query_params: parameters,
      format: 'JSONEachRow',
      abort_signal: signal,
      clickhouse_settings: buildReadSettings(timeoutMs),
    })
    // the client observes the signal until the answer begins
    const close = () => answer.close()
    signal.addEventListener('abort', close)
    try {
      if (signal.aborted) close()
      yield* answer.stream<Row>()
    } finally {
      signal.removeEventListener('abort', close)
    }
  } catch (error) {
    const isLate = signal.aborted || (error instanceof ClickHouseError && error.type === 'TIMEOUT_EXCEEDED')
    throw new ClickhouseReadError(isLate, error)
  } finally {
    endTurn()
  }
}

/** Jobs take no turns. */
const shareOfJob = (clickhouse: Clickhouse): ClickhouseShare => ({
  clickhouse,
  key: null,
  signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  timeoutMs: REQUEST_TIMEOUT_MS,
})

/** The server ends a query at the same limit, and when its connection is closed, which it does for read-only queries. */
const buildReadSettings = (timeoutMs: number) => ({
  readonly: '2' as const,
  max_execution_time: Math.ceil(timeoutMs / 1_000),
  cancel_http_readonly_queries_on_client_close: 1 as const,
})

/** Throws unless the server answers in time. Takes no turn. */
export async function pingClickhouse(clickhouse: Clickhouse, timeoutMs: number): Promise<void> {
  await withDeadline(timeoutMs, undefined, signal => select({ clickhouse, key: null, signal, timeoutMs }, 'SELECT 1'))
}

/**
 * Inserts lines of JSONCompactEachRow, each ending in a line break; `table` includes the column names. Resolves when the
 * server has stored them, and rejects when `signal` aborts before. Uses no insert tokens, which would remain for later
 * inserts.
 */
export async function insertLines(
  clickhouse: Clickhouse,
  table: string,
  lines: Buffer,
  outer?: AbortSignal,
): Promise<void> {
  await withDeadline(REQUEST_TIMEOUT_MS, outer, async signal => {
    const { stream } = await clickhouse.exec({
      query: `INSERT INTO ${table} FORMAT JSONCompactEachRow`,
      values: Readable.from([lines], { objectMode: false }),
      abort_signal: signal,
    })
    try {
      await finished(stream.resume(), { signal })
    } catch (error) {
      stream.destroy()
      throw error
    }
  })
}

/** Runs `work` with a signal that aborts after `ms`, and when `outer` aborts. */
async function withDeadline<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted()
  const ending = new AbortController()
  const abort = () => ending.abort()
  const cancel = startTimer(ms, abort)
  outer?.addEventListener('abort', abort)
  try {
    return await work(ending.signal)
  } finally {
    cancel()
    outer?.removeEventListener('abort', abort)
  }
}

/** False when the server returned an error: repeating the request may not help. */
export const isClickhouseAway = (error: unknown): boolean => findServerError(error) === null

/** True when the server has no such database or table. */
export const isSchemaMissing = (error: unknown): boolean => ['60', '81'].includes(findServerError(error)?.code ?? '')

function findServerError(error: unknown): ClickHouseError | null {
  const thrown = error instanceof ClickhouseReadError ? error.cause : error
  return thrown instanceof ClickHouseError ? thrown : null
}
