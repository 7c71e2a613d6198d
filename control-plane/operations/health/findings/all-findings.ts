import { formatDuration } from '../../../alerting/events/duration.ts'
import type { HealthFacts, PostgresFacts, WaitingWork } from '../facts.ts'
import { assessFleet } from './fleet-findings.ts'
import { assessGuarantee } from './guarantee-findings.ts'
import { type HealthFinding, type HealthSubject, reportHealthy, reportProblem } from './health-finding.ts'
import { assessPartitions } from './partition-findings.ts'
import { assessHistory, assessStreams } from './stream-findings.ts'

/** Clocks of one machine room agree to some milliseconds; from here on one of them is wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 3_000
/** An alert begins within milliseconds. */
const MAX_DELIVERY_DELAY_MS = 60_000
const MAX_FAN_OUT_DELAY_MS = 60_000
/** It is written down every few seconds. */
const MAX_INTAKE_SILENCE_MS = 60_000
const MAX_STANDBY_LAG_MS = 60_000

/** Facts in words, in the order in which they are read: what else depends on comes first. */
export function assessHealth(facts: HealthFacts): HealthFinding[] {
  const { postgres, nats, clickhouse } = facts
  return [
    ...assessEngines(facts),
    ...assessClocks(facts),
    ...(postgres && nats ? assessPartitions(postgres, nats) : []),
    ...(postgres ? assessFleet(postgres) : []),
    ...(nats ? assessStreams(nats) : []),
    ...(nats ? assessHistory(nats, clickhouse) : []),
    ...(postgres ? assessAlerts(postgres) : []),
    ...(postgres ? assessGuarantee(postgres) : []),
    ...(postgres ? assessReplication(postgres) : []),
  ]
}

export const isAllHealthy = (findings: readonly HealthFinding[]): boolean =>
  findings.every(finding => finding.isHealthy)

function assessEngines({ postgres, nats, clickhouse }: HealthFacts): HealthFinding[] {
  const readOnly =
    postgres?.isReadOnly &&
    reportProblem(
      'postgres',
      'PostgreSQL takes no writes: it is a standby',
      null,
      'Promote it, or let DATABASE_URL name the primary.',
    )
  return [
    readOnly || assessEngine('postgres', 'PostgreSQL', postgres, 'Verdicts and alerts wait for it.'),
    assessEngine('nats', 'NATS', nats, 'Probes keep their results; nothing is decided until it is back.'),
    assessEngine(
      'clickhouse',
      'ClickHouse',
      clickhouse,
      'There is no history until it is back; verdicts and alerts go on.',
    ),
  ]
}

const assessEngine = (subject: HealthSubject, name: string, answer: object | null, meaning: string): HealthFinding =>
  answer
    ? reportHealthy(subject, `${name} answers`)
    : reportProblem(subject, `${name} does not answer`, null, `${meaning} See its own log, and the network between.`)

/** Every pair is compared: the clock that is in each line is the wrong one. */
function assessClocks({ clocks }: HealthFacts): HealthFinding[] {
  if (clocks.length === 0) return []
  const known = [{ name: 'this machine', aheadMs: 0 }, ...clocks]
  const found = known.flatMap(({ name, aheadMs }, i) =>
    known.slice(i + 1).flatMap(other => {
      const ahead = other.aheadMs - aheadMs
      if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS) return []
      const much = `${formatDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`
      const todo = 'Let both machines keep time by NTP. Picket goes by the clocks of JetStream and PostgreSQL.'
      return [reportProblem('clocks', `The clock of ${other.name} is ${much} that of ${name}`, null, todo)]
    }),
  )
  return found.length > 0
    ? found
    : [reportHealthy('clocks', `The clocks of ${known.map(({ name }) => name).join(', ')} agree`)]
}

function assessAlerts({
  nowMs,
  deliveriesDue,
  fanOuts,
  heartbeats,
  lastTransitionAtMs,
}: PostgresFacts): HealthFinding[] {
  const changed =
    lastTransitionAtMs === null
      ? 'no status has changed yet'
      : `the last change of a status was ${formatAgo(nowMs - lastTransitionAtMs)}`
  const deliveries = isOverdue(nowMs, deliveriesDue, MAX_DELIVERY_DELAY_MS)
    ? reportProblem(
        'deliveries',
        `Deliveries are due and not attempted: to ${deliveriesDue.count} lanes of channels`,
        deliveriesDue.sinceMs,
        'Does a process with the role deliver run? Its log and picket_deliveries_in_flight tell what it does.',
      )
    : reportHealthy('deliveries', `Deliveries are attempted in time; ${changed}`)
  const fanOut = isOverdue(nowMs, fanOuts, MAX_FAN_OUT_DELAY_MS)
    ? reportProblem(
        'fan_outs',
        `${fanOuts.count} events wait until their deliveries are queued`,
        fanOuts.sinceMs,
        'Does a process with the role deliver run? Locks of a project hold up that project only (pg_locks).',
      )
    : reportHealthy('fan_outs', `${fanOuts.count} events wait until their deliveries are queued`)
  const isSilent = heartbeats.monitors > 0 && nowMs - heartbeats.listeningAtMs > MAX_INTAKE_SILENCE_MS
  const intake = isSilent
    ? reportProblem(
        'heartbeats',
        `No process takes the pings of ${heartbeats.monitors} heartbeat monitors`,
        heartbeats.listeningAtMs,
        'Start a process with the role api. Jobs that pinged meanwhile are not held to be late.',
      )
    : reportHealthy('heartbeats', `Pings of ${heartbeats.monitors} heartbeat monitors are taken`)
  return [deliveries, fanOut, intake]
}

function assessReplication({ nowMs, standbys }: PostgresFacts): HealthFinding[] {
  if (standbys.length === 0)
    return [reportHealthy('replication', 'PostgreSQL has no standby: a lost disk loses its data')]
  return standbys.map(({ name, isConnected, state, behindMs }) => {
    const todo = 'Until it has caught up, promoting it loses the newest changes. See its log and the network between.'
    if (!isConnected) {
      return reportProblem(
        'replication',
        `The standby ${name} of PostgreSQL is not connected, and its slot keeps the log for it`,
        null,
        todo,
      )
    }
    if (state !== null && state !== 'streaming') {
      return reportProblem('replication', `The standby ${name} of PostgreSQL does not stream: ${state}`, null, todo)
    }
    if (behindMs !== null && behindMs > MAX_STANDBY_LAG_MS) {
      return reportProblem('replication', `The standby ${name} of PostgreSQL is behind`, nowMs - behindMs, todo)
    }
    return reportHealthy('replication', `The standby ${name} of PostgreSQL streams`)
  })
}

const isOverdue = (nowMs: number, { sinceMs }: WaitingWork, limitMs: number) =>
  sinceMs !== null && nowMs - sinceMs > limitMs
const formatAgo = (ms: number) => `${formatDuration(ms)} ago`
