import type { Duplex } from 'node:stream'
import pg from 'pg'
import { monotonicMs, sleep } from '../time/clock.ts'
import { setCoalescedTimeout } from '../time/coalesced-timers.ts'
import { readInChunks } from './chunked-reading.ts'

/** How long a connection may be silent while it works on a query. */
export type QueryLimits = {
  /** PostgreSQL ends a statement after so long; null: never */
  statementMs: number | null
  /** No byte came for so long, and PostgreSQL did not say either that it still works on the query: the connection is dead. */
  silenceMs: number
}

/** Shared by the connections of a process: what one of them learns holds for the idle ones of all. */
export type StaleConnectionSignal = {
  /** Connections that were not heard since then may be dead. */
  staleBeforeMs(): number
  raise(beforeMs: number): void
  /** Calls `listener` whenever it is raised, until the answer is called. */
  onRaise(listener: () => void): () => void
}

export function createStaleConnectionSignal(): StaleConnectionSignal {
  const listeners = new Set<() => void>()
  let knownMs = Number.NEGATIVE_INFINITY
  return {
    staleBeforeMs: () => knownMs,
    raise(beforeMs) {
      if (beforeMs <= knownMs) return
      knownMs = beforeMs
      for (const listener of listeners) listener()
    },
    onRaise(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export type DeadConnectionDetector = {
  /** Watches a new connection of the pool, by a name of its own. Its queries end by an error when it is dead. */
  watch(client: pg.Client, name: string): void
  /** False for a connection that may be dead; it is destroyed then, without a word to the server. */
  isUsable(client: pg.Client): boolean
}

type WatchedConnection = {
  client: pg.Client
  /** its `application_name`, by which the server tells it from the others */
  name: string
  /** queries without an answer */
  waiting: number
  /** since when it has never been idle */
  sentMs: number
  /** the last byte that came, or the last time that the server said it works on the query */
  aliveMs: number
}

const CHECK_INTERVAL_MS = 500
/** A longer gap between two looks is time in which this process stood still, which no connection is to blame for. */
const MAX_GAP_MS = 1_500
/** After so much silence the server is asked, on a connection of its own, whether it works on the query. */
const ASK_AFTER_MS = 3_000
/** The server has finished with a query, and its answer is on the way for at most this long. */
const MAX_TRANSIT_MS = 500
const ASK_TIMEOUT_MS = 3_000

/**
 * Finds connections to PostgreSQL that are dead though nothing reset them: the host vanished, or something in between
 * lost them. A long query is no sign of that, so the server is asked which of the silent connections it works for; one
 * that it does not work for is destroyed at once, and so are idle ones that are as old. A destroyed connection never
 * goes back into its pool, and its query ends as at a reset.
 */
export function createDeadConnectionDetector(
  url: string,
  limits: QueryLimits,
  suspicion: StaleConnectionSignal,
): DeadConnectionDetector {
  const connections = new Map<pg.Client, WatchedConnection>()
  let isLooking = false
  let lookedMs = 0
  let isAsking = false

  const look = () => {
    isLooking = [...connections.values()].some(one => one.waiting > 0)
    if (!isLooking) return
    setCoalescedTimeout(CHECK_INTERVAL_MS, look)
    const nowMs = monotonicMs()
    const stoodStillMs = nowMs - lookedMs > MAX_GAP_MS ? nowMs - lookedMs : 0
    lookedMs = nowMs
    const silent: WatchedConnection[] = []
    for (const one of connections.values()) {
      if (one.waiting === 0) continue
      one.aliveMs += stoodStillMs
      one.sentMs += stoodStillMs
      if (isOverdue(one, nowMs, limits)) destroyWatched(one, suspicion)
      else if (nowMs - one.aliveMs > ASK_AFTER_MS) silent.push(one)
    }
    if (silent.length === 0 || isAsking) return
    isAsking = true
    // when this question is not answered either, the limits decide
    destroyIdle(url, silent, suspicion)
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }

  /** Checks continue while a query waits for its answer. */
  const begin = () => {
    if (isLooking) return
    isLooking = true
    lookedMs = monotonicMs()
    setCoalescedTimeout(CHECK_INTERVAL_MS, look)
  }

  return {
    watch(client, name) {
      const watched: WatchedConnection = { client, name, waiting: 0, sentMs: monotonicMs(), aliveMs: monotonicMs() }
      connections.set(client, watched)
      trackQueries(watched, begin)
      readInChunks(getSocket(client))
      client.on('end', () => void connections.delete(client))
    },
    isUsable(client) {
      const watched = connections.get(client)
      if (!watched) return false
      if (watched.aliveMs >= suspicion.staleBeforeMs()) return true
      destroyWatched(watched, suspicion)
      return false
    },
  }
}

/**
 * Ends a connection without a word to the server: its socket is gone, and what waits for an answer fails at once, with
 * the code of a connection that timed out.
 */
export function destroyConnection(client: pg.Client, why: string): void {
  getSocket(client).destroy(Object.assign(new Error(why), { code: 'ETIMEDOUT' }))
}

const getSocket = (client: pg.Client): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

function isOverdue(
  { aliveMs, sentMs }: WatchedConnection,
  nowMs: number,
  { statementMs, silenceMs }: QueryLimits,
): boolean {
  if (nowMs - aliveMs > silenceMs) return true
  return statementMs !== null && nowMs - sentMs > statementMs + silenceMs
}

function destroyWatched({ client, sentMs, waiting }: WatchedConnection, suspicion: StaleConnectionSignal): void {
  // idle connections that were not heard since this query was sent may be as dead
  if (waiting > 0) suspicion.raise(sentMs)
  destroyConnection(client, 'a connection to PostgreSQL does not answer any more')
}

type Query = (...args: unknown[]) => unknown
type Callback = (error: unknown, result: unknown) => void

/** Notes when queries are sent and when data arrives; `begin` before each. The driver is always called with a callback, by knex. */
function trackQueries(watched: WatchedConnection, begin: () => void): void {
  const { client } = watched
  getSocket(client).on('data', () => {
    watched.aliveMs = monotonicMs()
  })
  const send = client.query.bind(client) as Query
  const follow: Query = (...args) => {
    const callback = args.at(-1)
    if (typeof callback !== 'function') return send(...args)
    if (watched.waiting === 0) {
      watched.sentMs = monotonicMs()
      watched.aliveMs = watched.sentMs
    }
    watched.waiting++
    begin()
    return send(...args.slice(0, -1), (error: unknown, result: unknown) => {
      watched.waiting--
      ;(callback as Callback)(error, result)
    })
  }
  client.query = follow as typeof client.query
}

/** Destroys those of the silent connections that the server does not work for, or does not know. */
async function destroyIdle(url: string, silent: WatchedConnection[], suspicion: StaleConnectionSignal): Promise<void> {
  const askedMs = monotonicMs()
  const working = await listWorkingConnections(
    url,
    silent.map(({ name }) => name),
  )
  const idle = silent.filter(one => {
    if (!working.has(one.name)) return true
    one.aliveMs = Math.max(one.aliveMs, askedMs)
    return false
  })
  if (idle.length === 0) return
  await sleep(MAX_TRANSIT_MS)
  for (const one of idle) if (one.waiting > 0 && one.aliveMs < askedMs) destroyWatched(one, suspicion)
}

/** One that waits for its client, to read an answer or to send the rest of a query, does not work. */
const WORKING_CONNECTIONS_SQL = `SELECT application_name AS name FROM pg_stat_activity
  WHERE application_name = ANY($1) AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'`

async function listWorkingConnections(url: string, names: string[]): Promise<Set<string>> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'picket-watch',
    connectionTimeoutMillis: ASK_TIMEOUT_MS,
    query_timeout: ASK_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string }>(WORKING_CONNECTIONS_SQL, [names])
    return new Set(rows.map(({ name }) => name))
  } finally {
    getSocket(client).destroy()
  }
}
