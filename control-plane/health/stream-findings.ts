import { humanDuration } from '../events/duration.ts'
import type { ClickhouseFacts, NatsFacts, RecorderFact, StreamFact } from './facts.ts'
import { type Finding, unwell, well } from './finding.ts'

const NEARLY_FULL = 0.9
/** A full stream whose oldest messages make room is in order, as long as it reaches back far enough. */
const SHORTEST_SPAN_MS = 3_600_000
/** What comes late is recorded slowly on purpose, and after an outage for some minutes. */
const HISTORY_MS = 5 * 60_000
/** Pings that were kept are stored within seconds once a process has PostgreSQL again. */
const KEPT_PINGS_MS = 60_000

/** Room in the streams of NATS, and their copies. */
export function streamFindings({ streams, nowMs }: NatsFacts): Finding[] {
  const found = streams.flatMap(stream => [...roomOf(stream), ...copiesOf(stream), ...keptPings(stream, nowMs)])
  return found.length > 0 ? found : [well('streams', streams.map(filling).join(', '))]
}

const shareOf = ({ bytes, maxBytes }: StreamFact) => (maxBytes === null ? 0 : bytes / maxBytes)

const filling = (stream: StreamFact) => {
  const mib = `${Math.round(stream.bytes / 1024 / 1024)} MiB`
  return `${stream.name} holds ${mib}${stream.maxBytes === null ? '' : `, ${Math.round(shareOf(stream) * 100)} % of its size`}`
}

function roomOf(stream: StreamFact): Finding[] {
  if (shareOf(stream) < NEARLY_FULL) return []
  if (stream.refusesWhenFull) {
    const todo = 'It refuses what comes once it is full. See what keeps its messages from being stored.'
    return [unwell('streams', filling(stream), stream.firstAtMs, todo)]
  }
  const spanMs = stream.lastAtMs - stream.firstAtMs
  if (spanMs >= SHORTEST_SPAN_MS) return []
  const text = `${filling(stream)}, and reaches back ${humanDuration(spanMs)} only`
  const todo = 'What ClickHouse has not recorded by then is lost to the history: RESULTS_MAX_BYTES and LATE_MAX_BYTES.'
  return [unwell('streams', text, null, todo)]
}

const copiesOf = ({ name, replicasBehind }: StreamFact): Finding[] =>
  replicasBehind.map(server =>
    unwell(
      'streams',
      `The copy of ${name} on ${server} is away or not up to date`,
      null,
      'See the log of that server.',
    ),
  )

function keptPings({ name, messages, firstAtMs }: StreamFact, nowMs: number | null): Finding[] {
  if (name !== 'PINGS' || messages === 0 || nowMs === null || nowMs - firstAtMs <= KEPT_PINGS_MS) return []
  const todo = 'Processes with the role api store them as soon as they have PostgreSQL. See their logs.'
  return [unwell('heartbeats', `${messages} heartbeat pings are acknowledged and not stored yet`, firstAtMs, todo)]
}

/** Whether ClickHouse gets what is decided. */
export function historyFindings({ recorders, nowMs }: NatsFacts, clickhouse: ClickhouseFacts | null): Finding[] {
  const late = recorders.filter(
    ({ oldestAtMs }) => oldestAtMs !== null && nowMs !== null && nowMs - oldestAtMs > HISTORY_MS,
  )
  if (late.length > 0) return late.map(lateFinding)
  const lastAtMs = clickhouse?.lastRecordedAtMs ?? null
  const newest =
    lastAtMs === null ? 'none within the hour' : `the newest ${humanDuration(clickhouse!.nowMs - lastAtMs)} ago`
  return [well('history', `Results are written to ClickHouse; ${newest}`)]
}

const lateFinding = ({ stream, waiting, oldestAtMs }: RecorderFact): Finding =>
  unwell(
    'history',
    `${waiting} messages of ${stream} are not written to ClickHouse yet`,
    oldestAtMs,
    'Does a process with the role record run, and does ClickHouse take inserts? Verdicts and alerts are not touched.',
  )
