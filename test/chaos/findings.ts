import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import {
  AFTERMATH_MS,
  type Check,
  checkHistory,
  checkPromise,
  checkTelling,
  checkTransitions,
  checkWrites,
  isLong,
} from './checks.ts'
import { DELIVERY_ID } from './deliveries.ts'
import type { DoneFault } from './faults.ts'
import type { Acknowledged } from './ledger.ts'
import { type Records, readRecords, type StoredDelivery } from './records.ts'
import { replay } from './replay.ts'
import type { Scene } from './scene.ts'
import { checkTimes, type TimedOutage } from './timeliness.ts'
import { isOfItsRegion } from './wrong-messages.ts'

export type Findings = { checks: Check[]; figures: Record<string, number> }

/** Compares what is stored and delivered with the ledgers. PostgreSQL, NATS and ClickHouse have to run. `faults`: in ms since 1970. */
export async function findingsOf(scene: Scene, faults: readonly DoneFault[]): Promise<Findings> {
  const { scale, system, ledger, hook, customers, monitorIds } = scene
  const records = await readRecords(system.db, system.clickhouseUrl, monitorIds)
  const isOfVerdict = ({ stream, subject, batch }: Acknowledged) =>
    stream === RESULTS_STREAM && isOfItsRegion(subject, batch)
  const results = ledger.messages.filter(isOfVerdict)
  const replayed = replay(results, records.monitors)
  const ends = [...system.programs].flatMap(([name, { ownEnds }]) =>
    ownEnds.map(lines => `${name}: ${JSON.stringify(lines)}`),
  )
  const checks = [
    ...checkHistory(ledger.messages, records),
    checkTransitions(replayed, records),
    ...checkTelling(records, hook.accepted, system.lost),
    ...checkPromise(records, system.targets.outages, monitorIds, scale.isShort),
    checkTimes(timed(scene, records), faults, scale),
    checkWrites(customers.written, customers.unanswered, records, system.lost),
    { sentence: 'no process ended by itself', against: ends },
  ]
  return { checks, figures: figuresOf(scene, records) }
}

/** When the receiver heard first of each outage; whether it took that is another matter. */
function timed({ system, hook, monitorIds }: Scene, { monitors, deliveries }: Records): TimedOutage[] {
  const firstMs = new Map<string, number>()
  for (const { headers, atMs } of hook.receiver.received) {
    const id = String(headers[DELIVERY_ID])
    if (!firstMs.has(id)) firstMs.set(id, atMs)
  }
  const timings = new Map(monitors.map(monitor => [monitor.id, monitor]))
  return system.targets.outages.map(outage => {
    const id = monitorIds[outage.monitor]!
    const endMs = outage.toMs === null ? Number.POSITIVE_INFINITY : outage.toMs + AFTERMATH_MS
    const isOfIt = (one: StoredDelivery) =>
      one.monitorId === id && one.event === 'monitor.down' && one.occurredMs >= outage.fromMs && one.occurredMs <= endMs
    const reported = deliveries.filter(isOfIt).flatMap(one => firstMs.get(one.id) ?? [])
    return { ...outage, timing: timings.get(id)!, reportedAtMs: reported.length > 0 ? Math.min(...reported) : null }
  })
}

function figuresOf({ system, ledger, hook, customers }: Scene, records: Records): Record<string, number> {
  const resultsIn = (wanted: string) =>
    ledger.messages.reduce((sum, { stream, batch }) => sum + (stream === wanted ? batch.results.length : 0), 0)
  return {
    'results acknowledged in time': resultsIn(RESULTS_STREAM),
    'results acknowledged late': resultsIn(LATE_STREAM),
    'rows of the history': records.history.size,
    'times a partition was taken up': system.readings.count,
    'outages of targets': system.targets.outages.length,
    'of them long': system.targets.outages.filter(isLong).length,
    'regions without a probe for a while, whose monitors were not replayed': records.absentRegions.length,
    incidents: records.incidents.length,
    transitions: records.transitions.length,
    'writes of customers': customers.written.size,
    'of them lost with PostgreSQL': [...customers.written.keys()].filter(title => !records.reports.includes(title))
      .length,
    'writes that had to be asked for again': customers.refused,
    deliveries: records.deliveries.length,
    'deliveries that arrived and were lost with PostgreSQL': [...hook.accepted.keys()].filter(
      id => !records.deliveries.some(delivery => delivery.id === id),
    ).length,
    'attempts that the receiver refused': hook.refused,
  }
}
