import { bucketStream, CLOCK_STREAM, PINGS_STREAM, SCREENSHOTS_BUCKET } from '../../../../shared/nats/subjects.ts'
import { formatDuration } from '../../../alerting/events/duration.ts'
import type { ClickhouseFacts, NatsFacts, RecorderFact, StreamFact } from '../facts.ts'
import { type HealthFinding, NO_TIME, reportHealthy, reportProblem, reportUnknown } from './health-finding.ts'

const NEARLY_FULL = 0.9
/** A full stream that drops its oldest messages is healthy while it reaches back this far. */
const MIN_SPAN_MS = 3_600_000
/** Late results are recorded slowly on purpose, and a backlog after an outage takes minutes. */
const MAX_HISTORY_DELAY_MS = 5 * 60_000
/** Queued pings are stored within seconds when PostgreSQL is reachable again. */
const MAX_PING_WAIT_MS = 60_000

const UNKNOWN_PINGS = 'whether heartbeat pings wait to be stored'

/** Existence, size and replicas of the NATS streams. */
export function assessStreams({ streams, missingStreams, unread, nowMs }: NatsFacts): HealthFinding[] {
  const found = [
    ...missingStreams.map(reportMissing),
    ...unread.streams.flatMap(reportUnread),
    ...streams.flatMap(stream => [
      ...assessRoom(stream),
      ...assessReplicas(stream),
      ...assessStoredPings(stream, nowMs),
    ]),
  ]
  return found.length > 0 ? found : [reportHealthy('streams', streams.map(formatFill).join(', '))]
}

const reportMissing = (name: string): HealthFinding =>
  reportProblem(
    'streams',
    `NATS has no stream ${name}`,
    null,
    `Control planes create it within seconds. If it stays away, look in their logs for "${name === CLOCK_STREAM ? 'engine-clocks' : 'nats-streams'}".`,
  )

const reportUnread = (name: string): HealthFinding[] => [
  reportUnknown('streams', `how full ${name} is and whether it exists`),
  ...(name === PINGS_STREAM ? [reportUnknown('heartbeats', UNKNOWN_PINGS)] : []),
]

const computeFillShare = ({ bytes, maxBytes }: StreamFact) => (maxBytes === null ? 0 : bytes / maxBytes)

const formatFill = (stream: StreamFact) => {
  const mib = `${Math.round(stream.bytes / 1024 / 1024)} MiB`
  return `${stream.name} holds ${mib}${stream.maxBytes === null ? '' : `, ${Math.round(computeFillShare(stream) * 100)} % of its size`}`
}

function assessRoom(stream: StreamFact): HealthFinding[] {
  if (computeFillShare(stream) < NEARLY_FULL) return []
  if (stream.refusesWhenFull) {
    return [reportProblem('streams', formatFill(stream), stream.firstAtMs, getFullTodo(stream))]
  }
  const spanMs = stream.lastAtMs - stream.firstAtMs
  if (spanMs >= MIN_SPAN_MS) return []
  const text = `${formatFill(stream)}, and reaches back only ${formatDuration(spanMs)}`
  const todo =
    'Results that ClickHouse has not recorded by then are missing in the history. Increase RESULTS_MAX_BYTES or LATE_MAX_BYTES.'
  return [reportProblem('streams', text, null, todo)]
}

const getFullTodo = ({ name }: StreamFact) =>
  name === bucketStream(SCREENSHOTS_BUCKET)
    ? 'When it is full, new screenshots are dropped. Increase SCREENSHOTS_MAX_BYTES or decrease SCREENSHOTS_PROJECT_BYTES.'
    : 'When it is full, it refuses new messages. Find out why its messages are not stored.'

const assessReplicas = ({ name, replicasBehind }: StreamFact): HealthFinding[] =>
  replicasBehind.map(server =>
    reportProblem(
      'streams',
      `The replica of ${name} on ${server} is unreachable or not up to date`,
      null,
      'Check the log of that server.',
    ),
  )

function assessStoredPings({ name, messages, firstAtMs }: StreamFact, nowMs: number | null): HealthFinding[] {
  if (name !== PINGS_STREAM || messages === 0) return []
  if (nowMs === null) return [reportUnknown('heartbeats', UNKNOWN_PINGS, NO_TIME)]
  if (nowMs - firstAtMs <= MAX_PING_WAIT_MS) return []
  const todo =
    'Processes with the role api store them when they can reach PostgreSQL and no other transaction locks their monitors. Check their logs.'
  return [
    reportProblem('heartbeats', `${messages} heartbeat pings are acknowledged and not stored yet`, firstAtMs, todo),
  ]
}

/** Whether results are written to ClickHouse in time. */
export function assessHistory(
  { recorders, unread, nowMs }: NatsFacts,
  clickhouse: ClickhouseFacts | null,
): HealthFinding[] {
  const late = recorders.filter(
    ({ oldestAtMs }) => oldestAtMs !== null && nowMs !== null && nowMs - oldestAtMs > MAX_HISTORY_DELAY_MS,
  )
  const undated = recorders.filter(({ oldestAtMs }) => oldestAtMs !== null && nowMs === null)
  const found = [
    ...late.map(toLateFinding),
    ...unread.recorders.map(stream => reportUnknown('history', describeUnknownWait(stream))),
    ...undated.map(({ stream }) => reportUnknown('history', describeUnknownWait(stream), NO_TIME)),
  ]
  return found.length > 0 ? found : [reportHealthy('history', describeNewest(clickhouse))]
}

const describeUnknownWait = (stream: string) => `how long messages of ${stream} have waited for ClickHouse`

function describeNewest(clickhouse: ClickhouseFacts | null): string {
  if (clickhouse === null) return 'No result has waited long to be written to ClickHouse'
  const { nowMs, lastRecordedAtMs } = clickhouse
  const newest =
    lastRecordedAtMs === null ? 'none in the last hour' : `the newest ${formatDuration(nowMs - lastRecordedAtMs)} ago`
  return `Results are written to ClickHouse; ${newest}`
}

const toLateFinding = ({ stream, waiting, oldestAtMs }: RecorderFact): HealthFinding =>
  reportProblem(
    'history',
    `${waiting} messages of ${stream} are not written to ClickHouse yet`,
    oldestAtMs,
    'Check that a process with the role record runs and that ClickHouse accepts inserts. Verdicts and alerts are not affected.',
  )
