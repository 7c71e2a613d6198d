import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { monotonicMs, sleep } from '../time/clock.ts'
import { setCoalescedTimeout } from '../time/coalesced-timers.ts'
import { readInChunks } from './chunked-reading.ts'
import { isReadOnlyError } from './read-only.ts'

/** How long a query may take, and how long its connection may be silent. */
export type QueryLimits = {
  /** PostgreSQL cancels a statement after this time; null: never */
  statementMs: number | null
  /** A connection is dead when no byte arrived for this time and PostgreSQL did not confirm that it works on the query. */
  silenceMs: number
}

/** Shared by the connections of a process: a dead one makes the idle ones of the same age suspect. */
export type StaleConnectionSignal = {
  /** Connections that received nothing since then may be dead. */
  staleBeforeMs(): number
  raise(beforeMs: number): void
  /** Calls `listener` whenever it is raised. Returns a function that removes the listener. */
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

type DeadConnectionDetector = {
  /** The socket of a new connection. It is destroyed when older queries failed on dead connections and it is not set up yet. */
  openSocket(): Socket
  /** Watches a new connection of the pool, which has a unique name. Its queries fail when it is dead. */
  watch(client: pg.Client, name: string): void
  /** False for a connection that may be dead, or whose server accepts no writes; it is destroyed without a message to the server. */
  isUsable(client: pg.Client): boolean
}

type WatchedConnection = {
  client: pg.Client
  /** its `application_name`, which identifies it at the server */
  name: string
  /** queries without an answer */
  waiting: number
  /** since when it has been busy without a break */
  sentMs: number
  /** when the last byte arrived, or when the server last confirmed that it works on the query */
  aliveMs: number
  /** a write was refused; the address may lead to another server by now */
  isReadOnly: boolean
}

const CHECK_INTERVAL_MS = 500
/** After a longer gap between two checks this process was suspended; that time does not count as silence. */
const MAX_GAP_MS = 1_500
/** After this much silence the server is asked, on a separate connection, whether it works on the query. */
const ASK_AFTER_MS = 3_000
/** The longest time that the answer of a finished query is on its way. */
const MAX_TRANSIT_MS = 500
const ASK_TIMEOUT_MS = 3_000

/**
 * Finds connections to PostgreSQL that are dead although nothing reset them: the host vanished, or something in between
 * lost them. A long query looks the same, so the server is asked on which of the silent connections it works. The others
 * are destroyed, and so are idle ones of the same age. A destroyed connection never returns to its pool, and its query
 * fails as after a reset. See docs/design/storage.md#dead-connections.
 */
export function createDeadConnectionDetector(
  url: string,
  limits: QueryLimits,
  suspicion: StaleConnectionSignal,
): DeadConnectionDetector {
  const connections = new Map<pg.Client, WatchedConnection>()
  const starting = createStartingSockets(suspicion)
  let isChecking = false
  let checkedMs = 0
  let isAsking = false

  const check = () => {
    isChecking = [...connections.values()].some(one => one.waiting > 0)
    if (!isChecking) return
    setCoalescedTimeout(CHECK_INTERVAL_MS, check)
    const nowMs = monotonicMs()
    const suspendedMs = nowMs - checkedMs > MAX_GAP_MS ? nowMs - checkedMs : 0
    checkedMs = nowMs
    const silent: WatchedConnection[] = []
    for (const one of connections.values()) {
      if (one.waiting === 0) continue
      one.aliveMs += suspendedMs
      one.sentMs += suspendedMs
      if (isOverdue(one, nowMs, limits)) destroyWatched(one, suspicion)
      else if (nowMs - one.aliveMs > ASK_AFTER_MS) silent.push(one)
    }
    if (silent.length === 0 || isAsking) return
    isAsking = true
    // if this question is not answered either, the time limits decide
    destroyIdle(url, silent, suspicion)
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }

  /** Checks continue while a query waits for its answer. */
  const begin = () => {
    if (isChecking) return
    isChecking = true
    checkedMs = monotonicMs()
    setCoalescedTimeout(CHECK_INTERVAL_MS, check)
  }

  return {
    openSocket: starting.open,
    watch(client, name) {
      starting.end(getSocket(client) as Socket)
      const nowMs = monotonicMs()
      const watched = { client, name, waiting: 0, sentMs: nowMs, aliveMs: nowMs, isReadOnly: false }
      connections.set(client, watched)
      trackQueries(watched, begin)
      readInChunks(getSocket(client))
      client.on('end', () => void connections.delete(client))
    },
    isUsable(client) {
      const watched = connections.get(client)
      if (!watched) return false
      if (watched.isReadOnly) destroyConnection(client, 'PostgreSQL accepted no writes on this connection')
      else if (watched.aliveMs >= suspicion.staleBeforeMs()) return true
      else destroyWatched(watched, suspicion)
      return false
    },
  }
}

/**
 * Destroys the socket of a connection without a message to the server. What waits for an answer fails immediately with
 * `ETIMEDOUT`.
 */
export function destroyConnection(client: pg.Client, why: string): void {
  destroySocket(getSocket(client), why)
}

const destroySocket = (socket: Duplex, why: string): unknown =>
  socket.destroy(Object.assign(new Error(why), { code: 'ETIMEDOUT' }))

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
  // idle connections that received nothing sent after this query may be dead as well
  if (waiting > 0) suspicion.raise(sentMs + MAX_TRANSIT_MS)
  destroyConnection(client, 'a connection to PostgreSQL does not answer')
}

type Query = (...args: unknown[]) => unknown
type Callback = (error: unknown, result: unknown) => void

/**
 * Sockets of connections that are not set up yet. A dead one would only fail after the connect timeout, and with it a query
 * that needs a connection by then.
 */
function createStartingSockets(suspicion: StaleConnectionSignal) {
  const openedMs = new Map<Socket, number>()
  suspicion.onRaise(() => {
    for (const [socket, ms] of openedMs)
      if (ms < suspicion.staleBeforeMs()) destroySocket(socket, 'a new connection to PostgreSQL does not answer')
  })
  return {
    open(): Socket {
      const socket = new Socket()
      openedMs.set(socket, monotonicMs())
      socket.on('close', () => void openedMs.delete(socket))
      return socket
    },
    /** `ready` is the socket of a connection that is set up: the same one, or with TLS another one on the same port. */
    end(ready: Socket): void {
      for (const socket of openedMs.keys()) if (socket.localPort === ready.localPort) openedMs.delete(socket)
    },
  }
}

/** Records when queries are sent and when data arrives, and refused writes; calls `begin` before each query. knex always passes a callback. */
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
      watched.isReadOnly ||= Boolean(error) && isReadOnlyError(error)
      ;(callback as Callback)(error, result)
    })
  }
  client.query = follow as typeof client.query
}

/** Destroys the silent connections on which the server does not work, or that it does not know. */
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

/** A backend that waits for its client, to read an answer or to send the rest of a query, is not working. */
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
