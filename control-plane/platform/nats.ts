import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { type Authenticator, connect, jwtAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { steadyPace } from '../../shared/nats-pace.ts'
import { LATE_STREAM, PINGS_STREAM, RESULTS_STREAM, SHOTS_STREAM } from '../../shared/subjects.ts'
import { nowMs } from './clock.ts'
import { chance } from './ids.ts'
import { type NatsOperator, ownUser } from './nats-operator.ts'

export type Nats = {
  servers: string[]
  /** null: NATS is not in operator mode and asks nobody for a credential but what the URL holds */
  operator: NatsOperator | null
  connection: NatsConnection
  js: JetStreamClient
  manager: JetStreamManager
  /** Calls `listener` after each reconnect, until the answer is called. */
  onReconnect(listener: () => void): () => void
  close(): Promise<void>
}

const RECONNECT_AFTER_MS = 500
/** With two unanswered pings a link that hangs is given up after 9 s at most; the library's own two minutes are too long. */
const PING_EVERY_MS = 3_000
const PINGS_UNANSWERED = 2

/**
 * Connects and reconnects for ever, half a second to a second apart. Throws only when the first connection fails. With an operator
 * it signs its own credential, for the account that holds the streams.
 */
export async function connectNats(url: string, name: string, operator: NatsOperator | null = null): Promise<Nats> {
  const servers = url.split(',')
  const connection = await connect({
    servers,
    name,
    ...(operator && { authenticator: ownAuthenticator(operator, name) }),
    maxReconnectAttempts: -1,
    // refused twice in a row, as by a server that starts with the wrong keys, the client would give up for good
    ignoreAuthErrorAbort: true,
    ...steadyPace(() => RECONNECT_AFTER_MS * (1 + chance())),
    pingInterval: PING_EVERY_MS,
    maxPingOut: PINGS_UNANSWERED,
    timeout: 5_000,
  })
  const listeners = new Set<() => void>()
  void hearReconnects(connection, listeners)
  const manager = await jetstreamManager(connection, { checkAPI: false })
  return {
    servers,
    operator,
    connection,
    js: jetstream(connection),
    manager,
    onReconnect(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => connection.close(),
  }
}

/** Ends with the connection. */
async function hearReconnects(connection: NatsConnection, listeners: ReadonlySet<() => void>): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') for (const tell of listeners) tell()
}

function ownAuthenticator(operator: NatsOperator, name: string): Authenticator {
  const { jwt, seed } = ownUser(operator.main, name, Math.floor(nowMs() / 1_000))
  return jwtAuthenticator(jwt, new TextEncoder().encode(seed))
}

export const STREAM_MAX_AGE_MS = { [RESULTS_STREAM]: 24 * 3_600_000, [LATE_STREAM]: 7 * 24 * 3_600_000 }

/** On their way to the object store only; what does not get there in an hour is worth little. */
const SHOTS = { subjects: [`${SHOTS_STREAM}.*`], maxAgeMs: 3_600_000, max_bytes: 512 * 1024 * 1024 }

/** Acknowledged pings: a full stream refuses the next one instead of dropping an old one, and a stored one is removed. */
const PINGS = {
  subjects: [`${PINGS_STREAM}.*`],
  maxAgeMs: 7 * 24 * 3_600_000,
  max_bytes: 256 * 1024 * 1024,
  discard: DiscardPolicy.New,
  retention: RetentionPolicy.Workqueue,
}

/** Makes the streams where they are missing. What is there already is left as the operator set it. */
export async function ensureStreams(manager: JetStreamManager): Promise<void> {
  for (const [name, maxAgeMs] of Object.entries(STREAM_MAX_AGE_MS)) {
    await ensureStream(manager, name, { subjects: [`${name}.*.*`], maxAgeMs })
  }
  await ensureStream(manager, SHOTS_STREAM, SHOTS)
  await ensureStream(manager, PINGS_STREAM, PINGS)
}

async function ensureStream(
  manager: JetStreamManager,
  name: string,
  { maxAgeMs, ...limits }: Partial<StreamConfig> & { maxAgeMs: number },
): Promise<void> {
  const known = await manager.streams.info(name).catch(() => null)
  if (known) return
  await manager.streams.add({
    ...limits,
    name,
    storage: StorageType.File,
    max_age: maxAgeMs * 1_000_000,
    duplicate_window: 120 * 1_000_000_000,
  })
}
