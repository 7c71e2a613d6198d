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
import { createReconnectPace } from '../../../../shared/nats/reconnect-pace.ts'
import { LATE_STREAM, PINGS_STREAM, RESULTS_STREAM, SCREENSHOTS_STREAM } from '../../../../shared/nats/subjects.ts'
import { createRemoteClock, type RemoteClock } from '../../../../shared/process/remote-clock.ts'
import { randomFraction } from '../ids.ts'
import { monotonicMs, nowMs } from '../time/clock.ts'
import { createOwnUser, type NatsOperator } from './operator.ts'

export type Nats = {
  servers: string[]
  /** null: NATS is not in operator mode and asks nobody for a credential but what the URL holds */
  operator: NatsOperator | null
  connection: NatsConnection
  js: JetStreamClient
  manager: JetStreamManager
  /** JetStream's time, the one that results, schedules and verdicts go by; learned by engine-clocks.ts */
  clock: RemoteClock
  /** Calls `listener` after each reconnect, until the answer is called. */
  onReconnect(listener: () => void): () => void
  close(): Promise<void>
}

const RECONNECT_AFTER_MS = 500
/** With two unanswered pings a link that hangs is given up after 9 s at most; the library's own two minutes are too long. */
const PING_INTERVAL_MS = 3_000
const MAX_UNANSWERED_PINGS = 2

/**
 * Connects and reconnects for ever, half a second to a second apart. Throws only when the first connection fails. With an operator
 * it signs its own credential, for the account that holds the streams.
 */
export async function connectNats(url: string, name: string, operator: NatsOperator | null = null): Promise<Nats> {
  const servers = url.split(',')
  const connection = await connect({
    servers,
    name,
    ...(operator && { authenticator: createOwnAuthenticator(operator, name) }),
    maxReconnectAttempts: -1,
    // refused twice in a row, as by a server that starts with the wrong keys, the client would give up for good
    ignoreAuthErrorAbort: true,
    ...createReconnectPace(() => RECONNECT_AFTER_MS * (1 + randomFraction())),
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_UNANSWERED_PINGS,
    timeout: 5_000,
  })
  const listeners = new Set<() => void>()
  void notifyReconnects(connection, listeners)
  const manager = await jetstreamManager(connection, { checkAPI: false })
  return {
    servers,
    operator,
    connection,
    js: jetstream(connection),
    manager,
    clock: createRemoteClock(monotonicMs),
    onReconnect(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => connection.close(),
  }
}

/** JetStream's time in whole ms since 1970. Before the first answer, and where nothing asks for it, it is our own clock's. */
export const jetstreamNowMs = ({ clock }: Nats): number => Math.floor(clock.nowMs() ?? nowMs())

/** Ends with the connection. */
async function notifyReconnects(connection: NatsConnection, listeners: ReadonlySet<() => void>): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') for (const tell of listeners) tell()
}

function createOwnAuthenticator(operator: NatsOperator, name: string): Authenticator {
  const { jwt, seed } = createOwnUser(operator.main, name, Math.floor(nowMs() / 1_000))
  return jwtAuthenticator(jwt, new TextEncoder().encode(seed))
}

export const STREAM_MAX_AGE_MS = { [RESULTS_STREAM]: 24 * 3_600_000, [LATE_STREAM]: 7 * 24 * 3_600_000 }

export type StreamSettings = {
  /** of streams that are made */
  replicas: number
  /** how large a stream may grow, by its name; null: as large as it should be, or as there is room for */
  maxBytes: { [RESULTS_STREAM]: number | null; [LATE_STREAM]: number | null }
}

const MIB = 1024 * 1024
/** Verdicts need minutes of RESULTS; the rest waits for a ClickHouse that is away. 16 GiB are a day at 1,800 results a second. */
const PREFERRED_BYTES = { [RESULTS_STREAM]: 16_384 * MIB, [LATE_STREAM]: 4_096 * MIB }
const RESULT_STREAMS: (keyof typeof PREFERRED_BYTES)[] = [RESULTS_STREAM, LATE_STREAM]
/** 256 and 64 MiB: with less room a disk is too small. */
const MIN_SHARE = 1 / 64
/** "insufficient storage", "insufficient resources", and of a cluster "no suitable peers" */
const NO_ROOM_CODES = [10_047, 10_023, 10_005]

type Limits = Partial<StreamConfig> & { maxAgeMs: number; max_bytes: number }

/** On their way to the object store only; what does not get there in an hour is worth little. */
const SHOTS: Limits = { subjects: [`${SCREENSHOTS_STREAM}.*`], maxAgeMs: 3_600_000, max_bytes: 512 * MIB }

/** Acknowledged pings: a full stream refuses the next one instead of dropping an old one, and a stored one is removed. */
const PINGS: Limits = {
  subjects: [`${PINGS_STREAM}.*`],
  maxAgeMs: 7 * 24 * 3_600_000,
  max_bytes: 256 * MIB,
  discard: DiscardPolicy.New,
  retention: RetentionPolicy.Workqueue,
}

const DEFAULTS: StreamSettings = { replicas: 1, maxBytes: { [RESULTS_STREAM]: null, [LATE_STREAM]: null } }

/**
 * Makes the streams where they are missing. One that is there keeps its settings, except a size that is set here, and
 * streams of results without any size get one, where the oldest make room: a stream that fills the disk refuses results,
 * and then there are no verdicts.
 */
export async function ensureStreams(manager: JetStreamManager, settings = DEFAULTS): Promise<void> {
  const { replicas: num_replicas, maxBytes } = settings
  // the small ones first: the large ones take what room there is
  await addStream(manager, SCREENSHOTS_STREAM, { ...SHOTS, num_replicas })
  await addStream(manager, PINGS_STREAM, { ...PINGS, num_replicas })
  const unbounded: typeof RESULT_STREAMS = []
  for (const name of RESULT_STREAMS) {
    const max_bytes = maxBytes[name]
    if (max_bytes !== null) await limitStream(manager, name, { ...buildLimits(name), num_replicas, max_bytes })
    else if (((await findStreamConfig(manager, name))?.max_bytes ?? 0) <= 0) unbounded.push(name)
  }
  await limitStreamsToRoom(manager, unbounded, num_replicas, 1)
}

const buildLimits = (name: keyof typeof PREFERRED_BYTES) => ({
  subjects: [`${name}.*.*`],
  maxAgeMs: STREAM_MAX_AGE_MS[name],
})

/** The server reserves what streams may grow to: half as much for each, and again, until it has so much. */
async function limitStreamsToRoom(
  manager: JetStreamManager,
  names: typeof RESULT_STREAMS,
  num_replicas: number,
  share: number,
): Promise<void> {
  try {
    for (const name of names) {
      await limitStream(manager, name, { ...buildLimits(name), num_replicas, max_bytes: PREFERRED_BYTES[name] * share })
    }
  } catch (error) {
    if (!NO_ROOM_CODES.includes((error as { code?: number }).code ?? 0)) throw error
    if (share > MIN_SHARE) return limitStreamsToRoom(manager, names, num_replicas, share / 2)
    const known = await Promise.all(names.map(name => findStreamConfig(manager, name)))
    // streams that are there go on without a size
    if (known.includes(null)) throw error
  }
}

async function limitStream(manager: JetStreamManager, name: string, limits: Limits): Promise<void> {
  const known = await findStreamConfig(manager, name)
  const { max_bytes } = limits
  if (!known) await addStream(manager, name, limits)
  else if (known.max_bytes !== max_bytes) await manager.streams.update(name, { max_bytes, discard: DiscardPolicy.Old })
}

async function addStream(manager: JetStreamManager, name: string, { maxAgeMs, ...limits }: Limits): Promise<void> {
  if (await findStreamConfig(manager, name)) return
  const made = {
    ...limits,
    name,
    storage: StorageType.File,
    max_age: maxAgeMs * 1_000_000,
    duplicate_window: 120 * 1_000_000_000,
  }
  await manager.streams.add(made).catch(async error => {
    // another process has made it in this moment, with a size of its own
    if (!(await findStreamConfig(manager, name))) throw error
  })
}

async function findStreamConfig(manager: JetStreamManager, name: string): Promise<StreamConfig | null> {
  const known = await manager.streams.info(name).catch(() => null)
  return known?.config ?? null
}
