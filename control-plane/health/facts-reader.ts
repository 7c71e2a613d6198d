import { REGIONS } from '../../shared/check.ts'
import { LATE_STREAM, PINGS_STREAM, partitionFilter, RESULTS_STREAM, SHOTS_STREAM } from '../../shared/subjects.ts'
import { storedRegions } from '../fleet/view-store.ts'
import { type Clickhouse, select } from '../platform/clickhouse.ts'
import { believedMs, inTime } from '../platform/clock.ts'
import { learnLogTime } from '../platform/log-clock.ts'
import type { Nats } from '../platform/nats.ts'
import { lastMessageOn } from '../platform/ordered-reader.ts'
import type { Db } from '../platform/postgres.ts'
import { consumerBacklog, nextMessageOn, type StreamFill, streamFill } from '../platform/stream-view.ts'
import type {
  ClickhouseFacts,
  ClockFact,
  Facts,
  NatsFacts,
  PartitionFact,
  PostgresFacts,
  RecorderFact,
} from './facts.ts'
import {
  deliveriesDue,
  foreignReportFacts,
  heartbeatIntake,
  lastTransitionAtMs,
  liveProbeFacts,
  partitionFacts,
  plannedOutageFacts,
  serverNow,
  standbyFacts,
  waitingFanOuts,
} from './store.ts'

/** What answers later counts as away. */
const ANSWER_WITHIN_MS = 8_000
const STREAMS = [RESULTS_STREAM, LATE_STREAM, PINGS_STREAM, SHOTS_STREAM]
/** The durable consumers of the recorder by stream. */
const RECORDERS = { [RESULTS_STREAM]: 'record', [LATE_STREAM]: 'record-late' }

/** Null: it cannot be reached. */
export type Engines = { db: Db | null; nats: Nats | null; clickhouse: Clickhouse }

/** Asks all engines, each by itself: one that is away hides nothing of the others. */
export async function readFacts({ db, nats, clickhouse }: Engines): Promise<Facts> {
  const postgres = db && (await answerOf(postgresFacts(db)))
  const [natsAnswer, clickhouseAnswer] = await Promise.all([
    nats && answerOf(natsFacts(nats, postgres?.partitions ?? [])),
    answerOf(clickhouseFacts(clickhouse)),
  ])
  return {
    machineMs: believedMs(),
    clocks: [...(postgres?.clock ?? []), ...(natsAnswer?.clock ?? []), ...(clickhouseAnswer?.clock ?? [])],
    postgres,
    nats: natsAnswer,
    clickhouse: clickhouseAnswer,
  }
}

/** Null when there is no answer, or none in time. */
const answerOf = <T>(answer: Promise<T>): Promise<T | null> => inTime(answer, ANSWER_WITHIN_MS).catch(() => null)

async function postgresFacts(db: Db): Promise<PostgresFacts & Clock> {
  const [{ isReadOnly, ...server }, clock] = await timed('PostgreSQL', () => serverNow(db))
  return {
    ...{ ...server, isReadOnly, clock },
    partitions: await partitionFacts(db),
    regions: (await storedRegions(db, REGIONS)).map(row => ({
      region: row.region,
      monitors: row.monitors,
      unassigned: row.unassigned,
      liveProbes: row.live_probes,
      noLiveProbeSinceMs: row.no_live_probe_since?.getTime() ?? null,
      lastHeartbeatAtMs: row.last_heartbeat_at?.getTime() ?? null,
    })),
    probes: await liveProbeFacts(db),
    foreignReports: await foreignReportFacts(db),
    deliveriesDue: await deliveriesDue(db),
    fanOuts: await waitingFanOuts(db),
    heartbeats: await heartbeatIntake(db),
    lastTransitionAtMs: await lastTransitionAtMs(db),
    plannedOutages: await plannedOutageFacts(db),
    standbys: await standbyFacts(db),
  }
}

async function natsFacts(nats: Nats, partitions: PartitionFact[]): Promise<NatsFacts & Clock> {
  // a process of the control plane learns it all the time
  if (nats.clock.nowMs() === null) await learnLogTime(nats)
  const nowMs = nats.clock.nowMs()
  const fills = await Promise.all(STREAMS.map(async name => ({ name, fill: await streamFill(nats, name) })))
  const results = fills.find(({ name }) => name === RESULTS_STREAM)?.fill ?? null
  // awaited at once: a refusal that comes while something else is awaited would end the process
  const recorders = await Promise.all(
    Object.entries(RECORDERS).map(
      async ([stream, name]): Promise<RecorderFact> => ({ stream, ...(await consumerBacklog(nats, stream, name)) }),
    ),
  )
  return {
    nowMs,
    clock: nowMs === null ? [] : [{ name: 'JetStream', aheadMs: nowMs - believedMs() }],
    streams: fills.flatMap(({ name, fill }) => (fill === null ? [] : [{ name, ...fill }])),
    uncounted: results ? await uncounted(nats, partitions, results) : new Map(),
    recorders,
  }
}

/** A position in a stream that was made again since means nothing. */
async function uncounted(nats: Nats, partitions: PartitionFact[], stream: StreamFill): Promise<NatsFacts['uncounted']> {
  const oldest = partitions.map(async ({ id, position, streamCreated }) => {
    const counted = streamCreated === stream.created ? position : 0
    if (counted >= stream.lastSequence) return []
    const last = await lastMessageOn(nats, RESULTS_STREAM, partitionFilter(id))
    // an idle partition's next message would be looked for to the end of the stream
    if (last === null || last.sequence <= counted) return []
    const next = await nextMessageOn(nats, RESULTS_STREAM, partitionFilter(id), counted + 1)
    return next ? [[id, next] as const] : []
  })
  return new Map((await Promise.all(oldest)).flat())
}

async function clickhouseFacts(clickhouse: Clickhouse): Promise<ClickhouseFacts & Clock> {
  const [rows, clock] = await timed('ClickHouse', async () => {
    const [row] = await select<{ nowMs: string; lastMs: string }>(clickhouse, NEWEST)
    return { nowMs: Number(row!.nowMs), lastMs: Number(row!.lastMs) }
  })
  return { nowMs: rows.nowMs, lastRecordedAtMs: rows.lastMs > 0 ? rows.lastMs : null, clock }
}

const NEWEST = `
  SELECT toString(toUnixTimestamp64Milli(now64(3))) AS nowMs, toString(toUnixTimestamp64Milli(max(recorded_at))) AS lastMs
  FROM results WHERE scheduled_at > now() - INTERVAL 1 DAY AND recorded_at > now() - INTERVAL 1 HOUR`

type Clock = { clock: ClockFact[] }

/** An answer that takes longer says too little of the time. */
const PRECISE_MS = 1_000

/** What an engine answers, and how far its clock is ahead of this machine's in the middle of the question. */
async function timed<T extends { nowMs: number }>(name: string, ask: () => Promise<T>): Promise<[T, ClockFact[]]> {
  const sentMs = believedMs()
  const answer = await ask()
  const receivedMs = believedMs()
  const isPrecise = receivedMs - sentMs <= PRECISE_MS
  return [answer, isPrecise ? [{ name, aheadMs: answer.nowMs - (sentMs + receivedMs) / 2 }] : []]
}
