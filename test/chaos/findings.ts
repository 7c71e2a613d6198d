import { LATE_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import {
  AFTERMATH_MS,
  type CheckOutcome,
  checkCustomerWrites,
  checkHistory,
  checkNotifications,
  checkOutageReports,
  checkTransitions,
  isLongOutage,
} from './checks.ts'
import type { ChaosContext } from './context.ts'
import type { AppliedFault } from './faults.ts'
import type { AcknowledgedMessage } from './ledger.ts'
import { DELIVERY_ID } from './receiver.ts'
import { type DeliveryRecord, loadStoredRecords, type StoredRecords } from './records.ts'
import { replayMessages } from './replay.ts'
import { checkReportTimes, type TimedOutage } from './timeliness.ts'
import { hasMatchingRegion } from './wrong-messages.ts'

export type Findings = { checks: CheckOutcome[]; figures: Record<string, number> }

/** Compares stored and delivered data with the ledgers. PostgreSQL, NATS and ClickHouse must run. `faults`: in ms since 1970. */
export async function collectFindings(context: ChaosContext, faults: readonly AppliedFault[]): Promise<Findings> {
  const { scale, system, ledger, webhook, customers, monitorIds } = context
  const records = await loadStoredRecords(system.db, system.clickhouseUrl, monitorIds)
  const isOfVerdict = ({ stream, subject, batch }: AcknowledgedMessage) =>
    stream === RESULTS_STREAM && hasMatchingRegion(subject, batch)
  const results = ledger.messages.filter(isOfVerdict)
  const replayed = replayMessages(results, records.monitors)
  const exits = [...system.programs].flatMap(([name, { unexpectedExits }]) =>
    unexpectedExits.map(lines => `${name}: ${JSON.stringify(lines)}`),
  )
  const checks = [
    ...checkHistory(ledger.messages, records),
    checkTransitions(replayed, records),
    ...checkNotifications(records, webhook.accepted, system.lostPeriods),
    ...checkOutageReports(records, system.targets.outages, monitorIds, scale.isShort),
    checkReportTimes(addReportTimes(context, records), faults, scale),
    checkCustomerWrites(customers.written, customers.unacknowledged, records, system.lostPeriods),
    { statement: 'no process ended by itself', violations: exits },
  ]
  return { checks, figures: summarize(context, records) }
}

/** Adds the time at which the receiver was first notified of each outage, even if it refused that attempt. */
function addReportTimes(
  { system, webhook, monitorIds }: ChaosContext,
  { monitors, deliveries }: StoredRecords,
): TimedOutage[] {
  const firstMs = new Map<string, number>()
  for (const { headers, atMs } of webhook.receiver.received) {
    const id = String(headers[DELIVERY_ID])
    if (!firstMs.has(id)) firstMs.set(id, atMs)
  }
  const timings = new Map(monitors.map(monitor => [monitor.id, monitor]))
  return system.targets.outages.map(outage => {
    const id = monitorIds[outage.monitor]!
    const endMs = outage.toMs === null ? Number.POSITIVE_INFINITY : outage.toMs + AFTERMATH_MS
    const isOfIt = (one: DeliveryRecord) =>
      one.monitorId === id && one.event === 'monitor.down' && one.occurredMs >= outage.fromMs && one.occurredMs <= endMs
    const reported = deliveries.filter(isOfIt).flatMap(one => firstMs.get(one.id) ?? [])
    return { ...outage, timing: timings.get(id)!, reportedAtMs: reported.length > 0 ? Math.min(...reported) : null }
  })
}

function summarize(
  { system, ledger, webhook, customers }: ChaosContext,
  records: StoredRecords,
): Record<string, number> {
  const resultsIn = (wanted: string) =>
    ledger.messages.reduce((sum, { stream, batch }) => sum + (stream === wanted ? batch.results.length : 0), 0)
  return {
    'results acknowledged in time': resultsIn(RESULTS_STREAM),
    'results acknowledged late': resultsIn(LATE_STREAM),
    'rows of the history': records.history.size,
    'times a process began to read a partition': system.readings.count,
    'outages of targets': system.targets.outages.length,
    'of these long': system.targets.outages.filter(isLongOutage).length,
    'regions that had no probe for some time (their monitors are not replayed)': records.absentRegions.length,
    incidents: records.incidents.length,
    transitions: records.transitions.length,
    'writes of customers': customers.written.size,
    'of these lost with PostgreSQL': [...customers.written.keys()].filter(title => !records.reports.includes(title))
      .length,
    'writes that were repeated': customers.refused,
    deliveries: records.deliveries.length,
    'deliveries that arrived and were lost with PostgreSQL': [...webhook.accepted.keys()].filter(
      id => !records.deliveries.some(delivery => delivery.id === id),
    ).length,
    'attempts that the receiver refused': webhook.refused,
  }
}
