import { formatDuration } from '../../../alerting/events/duration.ts'
import type { HealthFacts, PostgresFacts, WaitingWork } from '../facts.ts'
import { assessFleet } from './fleet-findings.ts'
import { assessGuarantee } from './guarantee-findings.ts'
import {
  type HealthFinding,
  type HealthSubject,
  reportHealthy,
  reportProblem,
  reportUnknown,
} from './health-finding.ts'
import { assessOwnership, assessProgress } from './partition-findings.ts'
import { assessHistory, assessStreams } from './stream-findings.ts'

/** Synchronized clocks agree to milliseconds; with a larger difference one of them is wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 3_000
/** Normally an attempt begins within milliseconds. */
const MAX_DELIVERY_DELAY_MS = 60_000
const MAX_FAN_OUT_DELAY_MS = 60_000
/** Normally stored every few seconds. */
const MAX_INTAKE_SILENCE_MS = 60_000
const MAX_STANDBY_LAG_MS = 60_000

/** Turns facts into findings. Engines come first, because the others depend on them. */
export function assessHealth(facts: HealthFacts): HealthFinding[] {
  const { postgres, nats, clickhouse } = facts
  return [
    ...assessEngines(facts),
    ...assessClocks(facts),
    ...(postgres ? assessOwnership(postgres) : []),
    ...(postgres && nats ? assessProgress(postgres, nats) : []),
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

function assessEngines({ postgres, isStandby, nats, clickhouse }: HealthFacts): HealthFinding[] {
  return [
    assessPostgres(postgres, isStandby),
    assessEngine('nats', 'NATS', nats, 'Probes store their results; there are no new verdicts until it is back.'),
    assessEngine(
      'clickhouse',
      'ClickHouse',
      clickhouse,
      'History is delayed until it is back; verdicts and alerts continue.',
    ),
  ]
}

function assessPostgres(postgres: PostgresFacts | null, isStandby: boolean): HealthFinding {
  const reportReadOnly = (text: string, todo: string) => reportProblem('postgres', text, null, todo)
  if (isStandby)
    return reportReadOnly(
      'PostgreSQL is a standby and accepts no writes',
      'Promote it, or set DATABASE_URL to the primary.',
    )
  if (postgres?.isReadOnly)
    return reportReadOnly(
      'PostgreSQL accepts no writes: default_transaction_read_only is on',
      'Find out why it was set, for example because of a full disk, and set it to off.',
    )
  return assessEngine('postgres', 'PostgreSQL', postgres, 'Verdicts and alerts wait until it is back.')
}

const assessEngine = (subject: HealthSubject, name: string, answer: object | null, meaning: string): HealthFinding =>
  answer
    ? reportHealthy(subject, `${name} answers`)
    : reportProblem(subject, `${name} does not answer`, null, `${meaning} Check its log and the network.`)

/** Compares every pair: the clock that appears in each finding is the wrong one. */
function assessClocks({ clocks, nats }: HealthFacts): HealthFinding[] {
  const unknown = nats?.unread.clock ? [reportUnknown('clocks', 'what time it is by the clock of JetStream')] : []
  if (clocks.length === 0) return unknown
  const known = [{ name: 'this machine', aheadMs: 0 }, ...clocks]
  const found = known.flatMap(({ name, aheadMs }, i) =>
    known.slice(i + 1).flatMap(other => {
      const ahead = other.aheadMs - aheadMs
      if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS) return []
      const much = `${formatDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`
      const todo = 'Synchronize both machines by NTP. Picket uses the clocks of JetStream and PostgreSQL.'
      return [reportProblem('clocks', `The clock of ${other.name} is ${much} that of ${name}`, null, todo)]
    }),
  )
  return found.length > 0
    ? [...found, ...unknown]
    : [...unknown, reportHealthy('clocks', `The clocks of ${known.map(({ name }) => name).join(', ')} agree`)]
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
      : `the last status change was ${formatAgo(nowMs - lastTransitionAtMs)}`
  const deliveries = isOverdue(nowMs, deliveriesDue, MAX_DELIVERY_DELAY_MS)
    ? reportProblem(
        'deliveries',
        `Deliveries in ${deliveriesDue.count} lanes are due and not attempted`,
        deliveriesDue.sinceMs,
        'Check that a process with the role deliver runs, its log, and picket_deliveries_in_flight.',
      )
    : reportHealthy('deliveries', `Deliveries are attempted in time; ${changed}`)
  const fanOut = isOverdue(nowMs, fanOuts, MAX_FAN_OUT_DELAY_MS)
    ? reportProblem(
        'fan_outs',
        `${fanOuts.count} events wait until their deliveries are queued`,
        fanOuts.sinceMs,
        'Check that a process with the role deliver runs. Locks of a project delay only that project (pg_locks).',
      )
    : reportHealthy('fan_outs', `${fanOuts.count} events wait until their deliveries are queued`)
  const isSilent = heartbeats.monitors > 0 && nowMs - heartbeats.listeningAtMs > MAX_INTAKE_SILENCE_MS
  const intake = isSilent
    ? reportProblem(
        'heartbeats',
        `No process accepts the pings of ${heartbeats.monitors} heartbeat monitors`,
        heartbeats.listeningAtMs,
        'Start a process with the role api. Jobs that pinged meanwhile do not count as late.',
      )
    : reportHealthy('heartbeats', `Pings of ${heartbeats.monitors} heartbeat monitors are accepted`)
  return [deliveries, fanOut, intake]
}

function assessReplication({ nowMs, standbys }: PostgresFacts): HealthFinding[] {
  if (standbys.length === 0)
    return [reportHealthy('replication', 'PostgreSQL has no standby: a lost disk loses its data')]
  return standbys.map(({ name, isConnected, state, behindMs }) => {
    const todo = 'Until it has caught up, promoting it loses the newest changes. Check its log and the network.'
    if (!isConnected) {
      return reportProblem(
        'replication',
        `The standby ${name} of PostgreSQL is not connected, and its replication slot retains WAL`,
        null,
        todo,
      )
    }
    if (state !== null && state !== 'streaming') {
      return reportProblem('replication', `The standby ${name} of PostgreSQL is not streaming: ${state}`, null, todo)
    }
    if (behindMs !== null && behindMs > MAX_STANDBY_LAG_MS) {
      return reportProblem('replication', `The standby ${name} of PostgreSQL is behind`, nowMs - behindMs, todo)
    }
    return reportHealthy('replication', `The standby ${name} of PostgreSQL is streaming`)
  })
}

const isOverdue = (nowMs: number, { sinceMs }: WaitingWork, maxMs: number) =>
  sinceMs !== null && nowMs - sinceMs > maxMs
const formatAgo = (ms: number) => `${formatDuration(ms)} ago`
