import {
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { MAX_BATCH_MESSAGE_BYTES } from '../../../../shared/checks/result-batch.ts'
import { createReconnectPace } from '../../../../shared/nats/reconnect-pace.ts'
import { clarifyNatsError, parseNatsServers } from '../../../../shared/nats/servers.ts'
import {
  bucketStream,
  LATE_STREAM,
  PINGS_STREAM,
  RESULTS_STREAM,
  SCREENSHOTS_BUCKET,
  SCREENSHOTS_STREAM,
} from '../../../../shared/nats/subjects.ts'
import { createRemoteClock, type RemoteClock } from '../../../../shared/process/remote-clock.ts'
import { randomFraction } from '../ids.ts'
import { monotonicMs, nowMs } from '../time/clock.ts'
import { ensureClockStream } from './clock-stream.ts'
import { createOwnLogin, type NatsOperator } from './operator.ts'
import { isStreamMissing } from './stream-errors.ts'

export type Nats = {
  /** the text of NATS_URL: one or more servers */
  url: string
  /** null: NATS is not in operator mode; the only credential is the one in the URL */
  operator: NatsOperator | null
  connection: NatsConnection
  js: JetStreamClient
  manager: JetStreamManager
  /** JetStream's time, which results, schedules and verdicts use; learned by engine-clocks.ts */
  clock: RemoteClock
  /** Calls `listener` after each reconnect. Returns a function that removes it. */
  onReconnect(listener: () => void): () => void
  close(): Promise<void>
}

const RECONNECT_AFTER_MS = 500
/** With two unanswered pings a hanging connection is closed after at most 9 s; the library's default is two minutes. */
const PING_INTERVAL_MS = 3_000
const MAX_UNANSWERED_PINGS = 2

/**
 * Connects, and reconnects without limit, half a second to a second apart. Throws only when the first connection fails.
 * With an operator it signs its own credential for the account that owns the streams.
 */
export async function connectNats(url: string, name: string, operator: NatsOperator | null = null): Promise<Nats> {
  const connection = await connect({
    ...parseNatsServers(url),
    name,
    ...(operator && { authenticator: createOwnLogin(operator.main, name, Math.floor(nowMs() / 1_000)) }),
    maxReconnectAttempts: -1,
    // otherwise the client would stop for good after two refusals, for example by a server that starts with the wrong keys
    ignoreAuthErrorAbort: true,
    ...createReconnectPace(() => RECONNECT_AFTER_MS * (1 + randomFraction())),
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_UNANSWERED_PINGS,
    timeout: 5_000,
  }).catch(error => {
    throw clarifyNatsError(error)
  })
  const listeners = new Set<() => void>()
  void notifyReconnects(connection, listeners)
  const manager = await jetstreamManager(connection, { checkAPI: false })
  return {
    url,
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

/** JetStream's time in whole ms since 1970. Before the first answer, and where nothing learns it, the time of `nowMs`. */
export const jetstreamNowMs = ({ clock }: Nats): number => Math.floor(clock.nowMs() ?? nowMs())

/** Ends with the connection. */
async function notifyReconnects(connection: NatsConnection, listeners: ReadonlySet<() => void>): Promise<void> {
  for await (const { type } of connection.status()) if (type === 'reconnect') for (const notify of listeners) notify()
}

const MAX_STREAM_AGE_MS = { [RESULTS_STREAM]: 24 * 3_600_000, [LATE_STREAM]: 7 * 24 * 3_600_000 }

export type StreamSettings = {
  /** of new streams; an existing one with fewer gets as many */
  replicas: number
  /** how large a stream may grow, by its name; null: the preferred size, or less where NATS has less room */
  maxBytes: { [RESULTS_STREAM]: number | null; [LATE_STREAM]: number | null }
}

const MIB = 1024 * 1024
/** Verdicts need minutes of RESULTS; the rest is for a ClickHouse that is unreachable. 16 GiB are a day at 1,800 results a second. */
const PREFERRED_BYTES = { [RESULTS_STREAM]: 16_384 * MIB, [LATE_STREAM]: 4_096 * MIB }
const RESULT_STREAMS: (keyof typeof PREFERRED_BYTES)[] = [RESULTS_STREAM, LATE_STREAM]
const STREAMS = [SCREENSHOTS_STREAM, PINGS_STREAM, ...RESULT_STREAMS]
/** 256 and 64 MiB; a disk with less room is too small. */
const MIN_SHARE = 1 / 64
/** "insufficient storage", "insufficient resources", and in a cluster "no suitable peers" */
const NO_ROOM_CODES = [10_047, 10_023, 10_005]

type Limits = Partial<StreamConfig> & { maxAgeMs: number; max_bytes: number }

/** Screenshots on their way to the object store. */
const SHOTS: Limits = { subjects: [`${SCREENSHOTS_STREAM}.*`], maxAgeMs: 3_600_000, max_bytes: 512 * MIB }

/** Pings that were answered and not stored yet: a full stream refuses the next one instead of dropping an old one. */
const PINGS: Limits = {
  subjects: [`${PINGS_STREAM}.*`],
  maxAgeMs: 7 * 24 * 3_600_000,
  max_bytes: 256 * MIB,
  discard: DiscardPolicy.New,
  retention: RetentionPolicy.Workqueue,
}

const DEFAULTS: StreamSettings = { replicas: 1, maxBytes: { [RESULTS_STREAM]: null, [LATE_STREAM]: null } }

/**
 * Creates the streams that are missing. An existing stream keeps its settings, except a size that is configured here, and gets
 * the configured replicas when it has fewer. Streams of results without a size get one and drop their oldest messages: a stream
 * that fills the disk refuses results, and then there are no verdicts. `onRefusal` gets the error when a stream keeps its number
 * of replicas. See docs/design/storage.md#nats.
 */
export async function ensureStreams(
  manager: JetStreamManager,
  settings = DEFAULTS,
  onRefusal: (stream: string, error: unknown) => void = () => {},
): Promise<void> {
  const { replicas: num_replicas, maxBytes } = settings
  // the small ones first, because the large ones use the remaining room
  await addStream(manager, SCREENSHOTS_STREAM, { ...SHOTS, num_replicas })
  await addStream(manager, PINGS_STREAM, { ...PINGS, num_replicas })
  const unbounded: typeof RESULT_STREAMS = []
  for (const name of RESULT_STREAMS) {
    const max_bytes = maxBytes[name]
    if (max_bytes !== null) await limitStream(manager, name, { ...buildLimits(name), num_replicas, max_bytes })
    else if (!(await hasSize(manager, name))) unbounded.push(name)
  }
  await limitStreamsToRoom(manager, unbounded, num_replicas)
  for (const name of [...STREAMS, bucketStream(SCREENSHOTS_BUCKET)])
    await raiseReplicas(manager, name, num_replicas).catch(error => onRefusal(name, error))
  // results do not need it: the loop that learns the time creates it, and reports what fails
  await ensureClockStream(manager, num_replicas).catch(() => {})
}

/** A single server accepts the change, and does not open the stream after its next start: so it is not asked. */
async function raiseReplicas(manager: JetStreamManager, name: string, num_replicas: number): Promise<void> {
  const known = await findStream(manager, name)
  if (known === null || known.config.num_replicas >= num_replicas) return
  if (!known.cluster?.name) throw new Error('NATS is a single server, which keeps one replica of each stream')
  await manager.streams.update(name, { num_replicas })
}

const hasSize = async (manager: JetStreamManager, name: string) =>
  ((await findStreamConfig(manager, name))?.max_bytes ?? 0) > 0

/** Those of the streams of `ensureStreams` that do not exist. */
export async function listMissingStreams(manager: JetStreamManager): Promise<string[]> {
  const missing: string[] = []
  for (const name of STREAMS) if ((await findStreamConfig(manager, name)) === null) missing.push(name)
  return missing
}

const buildLimits = (name: keyof typeof PREFERRED_BYTES) => ({
  subjects: [`${name}.*.*`],
  maxAgeMs: MAX_STREAM_AGE_MS[name],
  // larger ones would be set aside
  max_msg_size: MAX_BATCH_MESSAGE_BYTES,
})

async function limitStreamsToRoom(
  manager: JetStreamManager,
  names: typeof RESULT_STREAMS,
  num_replicas: number,
): Promise<void> {
  /** sizes of the earlier tries, by stream */
  const tried = new Map<string, number[]>(names.map(name => [name, []]))
  const found = await fitIntoRoom(async share => {
    for (const name of names) {
      const max_bytes = PREFERRED_BYTES[name] * share
      // another size is from a process that created the stream meanwhile, and may be configured there
      const isOwn = (bytes: number) => bytes <= 0 || tried.get(name)!.includes(bytes)
      await limitStream(manager, name, { ...buildLimits(name), num_replicas, max_bytes }, isOwn)
      tried.get(name)!.push(max_bytes)
    }
  })
  if (!('noRoom' in found)) return
  const known = await Promise.all(names.map(name => findStreamConfig(manager, name)))
  // existing streams continue without a size
  if (known.includes(null)) throw found.noRoom
}

/**
 * Calls `limit` with the share of the preferred size, 1. The server reserves the size of a stream: without enough room the
 * share is halved repeatedly down to MIN_SHARE. `noRoom`: the error for the last one.
 */
export async function fitIntoRoom<T>(
  limit: (share: number) => Promise<T>,
  share = 1,
): Promise<{ value: T } | { noRoom: unknown }> {
  try {
    return { value: await limit(share) }
  } catch (error) {
    if (!NO_ROOM_CODES.includes((error as { code?: number }).code ?? 0)) throw error
    return share > MIN_SHARE ? fitIntoRoom(limit, share / 2) : { noRoom: error }
  }
}

/** `mayReplace`: whether an existing stream with this size gets the new one. */
async function limitStream(
  manager: JetStreamManager,
  name: string,
  limits: Limits,
  mayReplace: (bytes: number) => boolean = () => true,
): Promise<void> {
  const known = await findStreamConfig(manager, name)
  const { max_bytes } = limits
  if (!known) await addStream(manager, name, limits)
  else if (known.max_bytes !== max_bytes && mayReplace(known.max_bytes))
    await manager.streams.update(name, { max_bytes, discard: DiscardPolicy.Old })
}

async function addStream(manager: JetStreamManager, name: string, { maxAgeMs, ...limits }: Limits): Promise<void> {
  if (await findStreamConfig(manager, name)) return
  const config = {
    ...limits,
    name,
    storage: StorageType.File,
    max_age: maxAgeMs * 1_000_000,
    duplicate_window: 120 * 1_000_000_000,
  }
  await manager.streams.add(config).catch(async error => {
    // another process created it at the same moment, with its own size
    if (!(await findStreamConfig(manager, name))) throw error
  })
}

const findStreamConfig = async (manager: JetStreamManager, name: string): Promise<StreamConfig | null> =>
  (await findStream(manager, name))?.config ?? null

/** Null when there is no such stream. Throws after any other error: a stream that did not answer keeps its settings. */
function findStream(manager: JetStreamManager, name: string): Promise<StreamInfo | null> {
  return manager.streams.info(name).catch(error => {
    if (isStreamMissing(error)) return null
    throw error
  })
}
