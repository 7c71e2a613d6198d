import { formatDuration } from '../../../alerting/events/duration.ts'
import type { ClickhouseFacts, NatsFacts, RecorderFact, StreamFact } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

const NEARLY_FULL = 0.9
/** A full stream whose oldest messages make room is in order, as long as it reaches back far enough. */
const MIN_SPAN_MS = 3_600_000
/** What comes late is recorded slowly on purpose, and after an outage for some minutes. */
const MAX_HISTORY_DELAY_MS = 5 * 60_000
/** Pings that were kept are stored within seconds once a process has PostgreSQL again. */
const MAX_PING_WAIT_MS = 60_000

/** Room in the streams of NATS, and their copies. */
export function assessStreams({ streams, nowMs }: NatsFacts): HealthFinding[] {
  const found = streams.flatMap(stream => [
    ...assessRoom(stream),
    ...assessReplicas(stream),
    ...assessStoredPings(stream, nowMs),
  ])
  return found.length > 0 ? found : [reportHealthy('streams', streams.map(filling).join(', '))]
}

const computeFillShare = ({ bytes, maxBytes }: StreamFact) => (maxBytes === null ? 0 : bytes / maxBytes)

const filling = (stream: StreamFact) => {
  const mib = `${Math.round(stream.bytes / 1024 / 1024)} MiB`
  return `${stream.name} holds ${mib}${stream.maxBytes === null ? '' : `, ${Math.round(computeFillShare(stream) * 100)} % of its size`}`
}

function assessRoom(stream: StreamFact): HealthFinding[] {
  if (computeFillShare(stream) < NEARLY_FULL) return []
  if (stream.refusesWhenFull) {
    const todo = 'It refuses what comes once it is full. See what keeps its messages from being stored.'
    return [reportProblem('streams', filling(stream), stream.firstAtMs, todo)]
  }
  const spanMs = stream.lastAtMs - stream.firstAtMs
  if (spanMs >= MIN_SPAN_MS) return []
  const text = `${filling(stream)}, and reaches back ${formatDuration(spanMs)} only`
  const todo = 'What ClickHouse has not recorded by then is lost to the history: RESULTS_MAX_BYTES and LATE_MAX_BYTES.'
  return [reportProblem('streams', text, null, todo)]
}

const assessReplicas = ({ name, replicasBehind }: StreamFact): HealthFinding[] =>
  replicasBehind.map(server =>
    reportProblem(
      'streams',
      `The copy of ${name} on ${server} is away or not up to date`,
      null,
      'See the log of that server.',
    ),
  )

function assessStoredPings({ name, messages, firstAtMs }: StreamFact, nowMs: number | null): HealthFinding[] {
  if (name !== 'PINGS' || messages === 0 || nowMs === null || nowMs - firstAtMs <= MAX_PING_WAIT_MS) return []
  const todo = 'Processes with the role api store them as soon as they have PostgreSQL. See their logs.'
  return [
    reportProblem('heartbeats', `${messages} heartbeat pings are acknowledged and not stored yet`, firstAtMs, todo),
  ]
}

/** Whether ClickHouse gets what is decided. */
export function assessHistory({ recorders, nowMs }: NatsFacts, clickhouse: ClickhouseFacts | null): HealthFinding[] {
  const late = recorders.filter(
    ({ oldestAtMs }) => oldestAtMs !== null && nowMs !== null && nowMs - oldestAtMs > MAX_HISTORY_DELAY_MS,
  )
  if (late.length > 0) return late.map(toLateFinding)
  const lastAtMs = clickhouse?.lastRecordedAtMs ?? null
  const newest =
    lastAtMs === null ? 'none within the hour' : `the newest ${formatDuration(clickhouse!.nowMs - lastAtMs)} ago`
  return [reportHealthy('history', `Results are written to ClickHouse; ${newest}`)]
}

const toLateFinding = ({ stream, waiting, oldestAtMs }: RecorderFact): HealthFinding =>
  reportProblem(
    'history',
    `${waiting} messages of ${stream} are not written to ClickHouse yet`,
    oldestAtMs,
    'Does a process with the role record run, and does ClickHouse take inserts? Verdicts and alerts are not touched.',
  )
