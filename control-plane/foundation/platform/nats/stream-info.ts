import { DiscardPolicy } from '@nats-io/jetstream'
import type { Nats } from './client.ts'
import { isStreamMissing } from './stream-errors.ts'

export type StreamInfo = {
  created: string
  bytes: number
  /** null: no limit */
  maxBytes: number | null
  /** a full stream refuses new messages; otherwise it drops the oldest */
  refusesWhenFull: boolean
  messages: number
  lastSequence: number
  /** of the oldest and the newest message, ms since 1970 by the server's clock; 0: there was never a message */
  firstAtMs: number
  lastAtMs: number
  /** replicas on other servers that are unreachable or not up to date */
  replicasBehind: string[]
}

/** How full a stream is and how far it reaches back; null when there is no such stream. */
export async function findStreamInfo({ manager }: Nats, stream: string): Promise<StreamInfo | null> {
  const info = await manager.streams.info(stream).catch(error => {
    if (isStreamMissing(error)) return null
    throw error
  })
  if (info === null) return null
  const { config, state, cluster, created } = info
  return {
    created: String(created),
    bytes: state.bytes,
    maxBytes: config.max_bytes > 0 ? config.max_bytes : null,
    refusesWhenFull: config.discard === DiscardPolicy.New,
    messages: state.messages,
    lastSequence: state.last_seq,
    firstAtMs: state.messages > 0 ? parseTimeMs(state.first_ts) : 0,
    lastAtMs: parseTimeMs(state.last_ts),
    replicasBehind: (cluster?.replicas ?? []).filter(peer => peer.offline || !peer.current).map(({ name }) => name),
  }
}

/** "consumer not found" */
const NO_CONSUMER = 10_014

/** The first message on a subject, which may contain wildcards, from a sequence on; null when there is none. */
export async function findNextMessage(
  { manager }: Nats,
  stream: string,
  subject: string,
  fromSequence: number,
): Promise<{ sequence: number; takenAtMs: number } | null> {
  // the server accepts this request for every stream; the types of the client library allow it for direct reads only
  const request = { seq: fromSequence, next_by_subj: subject } as unknown as { seq: number }
  const message = await manager.streams.getMessage(stream, request)
  return message && { sequence: message.seq, takenAtMs: message.time.getTime() }
}

/** The messages that a durable consumer has not acknowledged. One that does not exist has acknowledged none; no stream has none. */
export async function loadConsumerBacklog(
  nats: Nats,
  stream: string,
  consumer: string,
): Promise<{ waiting: number; oldestAtMs: number | null }> {
  const info = await nats.manager.consumers.info(stream, consumer).catch(error => {
    if ((error as { code?: number }).code === NO_CONSUMER || isStreamMissing(error)) return null
    throw error
  })
  if (info === null && (await findStreamInfo(nats, stream)) === null) return { waiting: 0, oldestAtMs: null }
  if (info !== null && info.num_pending + info.num_ack_pending === 0) return { waiting: 0, oldestAtMs: null }
  const oldest = await findNextMessage(nats, stream, '>', (info?.ack_floor.stream_seq ?? 0) + 1)
  const waiting =
    info === null ? ((await findStreamInfo(nats, stream))?.messages ?? 0) : info.num_pending + info.num_ack_pending
  return { waiting, oldestAtMs: oldest?.takenAtMs ?? null }
}

/** The server returns year 1 when there was never a message. */
const parseTimeMs = (timestamp: string): number => Math.max(0, Date.parse(timestamp) || 0)
