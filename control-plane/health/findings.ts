import { humanDuration } from '../events/duration.ts'
import type { Facts, PostgresFacts, Waiting } from './facts.ts'
import { type Finding, type Subject, unwell, well } from './finding.ts'
import { fleetFindings } from './fleet-findings.ts'
import { guaranteeFindings } from './guarantee-findings.ts'
import { partitionFindings } from './partition-findings.ts'
import { historyFindings, streamFindings } from './stream-findings.ts'

/** Clocks of one machine room agree to some milliseconds; from here on one of them is wrong. */
const CLOCKS_MS = 3_000
/** An alert begins within milliseconds. */
const DELIVERY_MS = 60_000
const FAN_OUT_MS = 60_000
/** It is written down every few seconds. */
const INTAKE_MS = 60_000
const STANDBY_MS = 60_000

/** Facts in words, in the order in which they are read: what else depends on comes first. */
export function findingsOf(facts: Facts): Finding[] {
  const { postgres, nats, clickhouse } = facts
  return [
    ...engineFindings(facts),
    ...clockFindings(facts),
    ...(postgres && nats ? partitionFindings(postgres, nats) : []),
    ...(postgres ? fleetFindings(postgres) : []),
    ...(nats ? streamFindings(nats) : []),
    ...(nats ? historyFindings(nats, clickhouse) : []),
    ...(postgres ? alertFindings(postgres) : []),
    ...(postgres ? guaranteeFindings(postgres) : []),
    ...(postgres ? replicationFindings(postgres) : []),
  ]
}

export const isWell = (findings: readonly Finding[]): boolean => findings.every(finding => finding.isWell)

function engineFindings({ postgres, nats, clickhouse }: Facts): Finding[] {
  const readOnly =
    postgres?.isReadOnly &&
    unwell(
      'postgres',
      'PostgreSQL takes no writes: it is a standby',
      null,
      'Promote it, or let DATABASE_URL name the primary.',
    )
  return [
    readOnly || engine('postgres', 'PostgreSQL', postgres, 'Verdicts and alerts wait for it.'),
    engine('nats', 'NATS', nats, 'Probes keep their results; nothing is decided until it is back.'),
    engine('clickhouse', 'ClickHouse', clickhouse, 'There is no history until it is back; verdicts and alerts go on.'),
  ]
}

const engine = (subject: Subject, name: string, answer: object | null, meaning: string): Finding =>
  answer
    ? well(subject, `${name} answers`)
    : unwell(subject, `${name} does not answer`, null, `${meaning} See its own log, and the network between.`)

/** Every pair is compared: the clock that is in each line is the wrong one. */
function clockFindings({ clocks }: Facts): Finding[] {
  if (clocks.length === 0) return []
  const known = [{ name: 'this machine', aheadMs: 0 }, ...clocks]
  const found = known.flatMap(({ name, aheadMs }, i) =>
    known.slice(i + 1).flatMap(other => {
      const ahead = other.aheadMs - aheadMs
      if (Math.abs(ahead) <= CLOCKS_MS) return []
      const much = `${humanDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`
      const todo = 'Let both machines keep time by NTP. Picket goes by the clocks of JetStream and PostgreSQL.'
      return [unwell('clocks', `The clock of ${other.name} is ${much} that of ${name}`, null, todo)]
    }),
  )
  return found.length > 0 ? found : [well('clocks', `The clocks of ${known.map(({ name }) => name).join(', ')} agree`)]
}

function alertFindings({ nowMs, deliveriesDue, fanOuts, heartbeats, lastTransitionAtMs }: PostgresFacts): Finding[] {
  const changed =
    lastTransitionAtMs === null
      ? 'no status has changed yet'
      : `the last change of a status was ${ago(nowMs - lastTransitionAtMs)}`
  const deliveries = waitingFor(nowMs, deliveriesDue, DELIVERY_MS)
    ? unwell(
        'deliveries',
        `Deliveries are due and not attempted: to ${deliveriesDue.count} lanes of channels`,
        deliveriesDue.sinceMs,
        'Does a process with the role deliver run? Its log and picket_deliveries_in_flight tell what it does.',
      )
    : well('deliveries', `Deliveries are attempted in time; ${changed}`)
  const fanOut = waitingFor(nowMs, fanOuts, FAN_OUT_MS)
    ? unwell(
        'fan_outs',
        `${fanOuts.count} events wait until their deliveries are queued`,
        fanOuts.sinceMs,
        'Does a process with the role deliver run? Locks of a project hold up that project only (pg_locks).',
      )
    : well('fan_outs', `${fanOuts.count} events wait until their deliveries are queued`)
  const isSilent = heartbeats.monitors > 0 && nowMs - heartbeats.listeningAtMs > INTAKE_MS
  const intake = isSilent
    ? unwell(
        'heartbeats',
        `No process takes the pings of ${heartbeats.monitors} heartbeat monitors`,
        heartbeats.listeningAtMs,
        'Start a process with the role api. Jobs that pinged meanwhile are not held to be late.',
      )
    : well('heartbeats', `Pings of ${heartbeats.monitors} heartbeat monitors are taken`)
  return [deliveries, fanOut, intake]
}

function replicationFindings({ nowMs, standbys }: PostgresFacts): Finding[] {
  if (standbys.length === 0) return [well('replication', 'PostgreSQL has no standby: a lost disk loses its data')]
  return standbys.map(({ name, isConnected, state, behindMs }) => {
    const todo = 'Until it has caught up, promoting it loses the newest changes. See its log and the network between.'
    if (!isConnected) {
      return unwell(
        'replication',
        `The standby ${name} of PostgreSQL is not connected, and its slot keeps the log for it`,
        null,
        todo,
      )
    }
    if (state !== null && state !== 'streaming') {
      return unwell('replication', `The standby ${name} of PostgreSQL does not stream: ${state}`, null, todo)
    }
    if (behindMs !== null && behindMs > STANDBY_MS) {
      return unwell('replication', `The standby ${name} of PostgreSQL is behind`, nowMs - behindMs, todo)
    }
    return well('replication', `The standby ${name} of PostgreSQL streams`)
  })
}

const waitingFor = (nowMs: number, { sinceMs }: Waiting, limitMs: number) =>
  sinceMs !== null && nowMs - sinceMs > limitMs
const ago = (ms: number) => `${humanDuration(ms)} ago`
