import { findRejectReason } from '../../control-plane/insight/analytics/recording/result-line.ts'
import { type Result, STATUS_OF_OUTCOME, Trigger } from '../../shared/checks/result.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import type { AcknowledgedMessage } from './ledger.ts'
import type { StoredRecords, TransitionRecord } from './records.ts'
import type { ReplayedTransition } from './replay.ts'
import type { LostPeriod } from './standby.ts'
import type { ActualOutage } from './targets.ts'
import { hasMatchingRegion } from './wrong-messages.ts'

/** A statement that has to be true, and what contradicts it. Without violations the check has passed. */
export type CheckOutcome = { statement: string; violations: string[] }

/** ClickHouse must hold each acknowledged result of a region that checks its monitor exactly once, and nothing else. */
export function checkHistory(
  messages: readonly AcknowledgedMessage[],
  { history, historyTwice, monitors }: StoredRecords,
): CheckOutcome[] {
  const regionsByMonitor = new Map(monitors.map(({ id, regions }) => [id, regions]))
  const acknowledged = new Map<string, string>()
  for (const { subject, batch, takenAtMs } of messages) {
    const isRecordable = (result: Result) =>
      hasMatchingRegion(subject, batch) &&
      (regionsByMonitor.get(result.monitorId)?.includes(batch.region) ?? true) &&
      result.trigger !== Trigger.WITNESS &&
      findRejectReason(result, takenAtMs) === null &&
      result.outcome in STATUS_OF_OUTCOME
    for (const result of batch.results.filter(isRecordable)) {
      const { monitorId, scheduledAtMs, attempt, epoch, outcome } = result
      const key = [monitorId, batch.region, scheduledAtMs, Math.min(attempt, 255), batch.probeId, epoch].join(' ')
      acknowledged.set(key, STATUS_OF_OUTCOME[outcome as keyof typeof STATUS_OF_OUTCOME])
    }
  }
  const lost = [...acknowledged.keys()].filter(key => !history.has(key))
  const changed = [...acknowledged].filter(([key, status]) => history.has(key) && history.get(key) !== status)
  const invented = [...history.keys()].filter(key => !acknowledged.has(key))
  return [
    { statement: 'every acknowledged result is in the history', violations: lost },
    {
      statement: 'every result in the history has the acknowledged status',
      violations: changed.map(([key, status]) => `${key}: acknowledged ${status}, stored ${history.get(key)}`),
    },
    {
      statement: 'no result is in the history twice',
      violations: historyTwice > 0 ? [`${historyTwice} are stored twice`] : [],
    },
    { statement: 'every result in the history was acknowledged', violations: invented },
  ]
}

const formatTime = (ms: number) => new Date(ms).toISOString().slice(11, 23)
const print = (one: { from: string | null; to: string | null; atMs: number; quorum: string }) =>
  `${formatTime(one.atMs)} ${one.from} to ${one.to} (${one.quorum})`

/**
 * Compares monitors, statuses, times, quorum and order. Monitors with a region that had no probe for some time are left out:
 * the results do not show when the verdict noticed the absence.
 */
export function checkTransitions(
  replayed: readonly ReplayedTransition[],
  { monitors, transitions, absentRegions }: StoredRecords,
): CheckOutcome {
  const compared = monitors.filter(({ regions }) => !regions.some(region => absentRegions.includes(region)))
  const violations = compared.flatMap(({ id }) => {
    const expected = replayed.filter(one => one.monitorId === id).map(({ transition }) => print(transition))
    const stored = transitions.filter(one => one.monitorId === id).map(print)
    return expected.join() === stored.join()
      ? []
      : [`${id}: stored ${stored.join(', ')}; replayed ${expected.join(', ')}`]
  })
  return { statement: 'the stored transitions equal those of a replay of the results', violations }
}

/** An outage as the verdict reported it: from the transition to down until the transition to up. */
type Span = { monitorId: string; fromMs: number; isOver: boolean }

function listOutageSpans({ transitions }: StoredRecords): Span[] {
  const spans: Span[] = []
  for (const { monitorId, to, atMs } of transitions) {
    const open = spans.find(span => span.monitorId === monitorId && !span.isOver)
    if (to === 'down' && !open) spans.push({ monitorId, fromMs: atMs, isOver: false })
    if (to === 'up' && open) open.isOver = true
  }
  return spans
}

/** Each outage must have one incident, and each notified change one delivery. */
export function checkNotifications(
  records: StoredRecords,
  accepted: Map<string, ReceivedRequest[]>,
  lost: readonly LostPeriod[] = [],
): CheckOutcome[] {
  const { incidents, transitions, deliveries } = records
  const spans = listOutageSpans(records)
  const list = (items: { monitorId: string; ms: number }[]) =>
    items.map(({ monitorId, ms }) => `${monitorId} ${formatTime(ms)}`).sort()
  const outages = list(spans.map(({ monitorId, fromMs }) => ({ monitorId, ms: fromMs })))
  const opened = list(incidents.map(({ monitorId, startedMs }) => ({ monitorId, ms: startedMs })))
  const expected = listExpectedNotifications(transitions).map(
    ({ monitorId, to, atMs }) => `${monitorId} monitor.${to} ${formatTime(atMs)}`,
  )
  const sent = deliveries.filter(({ event }) => event.startsWith('monitor.'))
  const queued = sent.map(({ monitorId, event, occurredMs }) => `${monitorId} ${event} ${formatTime(occurredMs)}`)
  return [
    { statement: 'every outage has one incident', violations: listDifferences(outages, opened) },
    {
      statement: 'every incident is resolved',
      violations: incidents.filter(one => !one.isResolved).map(one => one.monitorId),
    },
    {
      statement: 'each transition to down and each end of an outage has one delivery',
      violations: listDifferences(expected, queued),
    },
    ...checkDeliveries(records, accepted, lost),
  ]
}

/** The changes that a default channel receives: each transition to down and the end of each outage, but not `degraded`. */
function listExpectedNotifications(transitions: readonly TransitionRecord[]): TransitionRecord[] {
  const down = new Set<string>()
  return transitions.filter(({ monitorId, to }) => {
    const isEnd = to === 'up' && down.delete(monitorId)
    if (to === 'down') down.add(monitorId)
    return to === 'down' || isEnd
  })
}

/** A change that was reported in a period that PostgreSQL lost may be reported again with another delivery id. */
function checkDeliveries(
  { deliveries }: StoredRecords,
  accepted: Map<string, ReceivedRequest[]>,
  lost: readonly LostPeriod[],
): CheckOutcome[] {
  const known = new Map(deliveries.map(delivery => [delivery.id, delivery]))
  const show = ({ id, event, status, attempts }: StoredRecords['deliveries'][number]) =>
    `${id} ${event} ${status} ${JSON.stringify(attempts)}`
  return [
    { statement: 'no delivery is pending', violations: deliveries.filter(one => one.status === 'pending').map(show) },
    {
      statement: 'every delivery arrived',
      violations: deliveries.filter(one => one.status !== 'delivered' || !accepted.has(one.id)).map(show),
    },
    {
      statement: 'every delivery that the receiver accepted has the status delivered',
      violations: [...accepted]
        .filter(([id, all]) => known.has(id) || !all.every(({ atMs }) => isLost(lost, atMs)))
        .map(([id]) => id)
        .filter(id => known.get(id)?.status !== 'delivered'),
    },
    {
      statement: 'every repeated delivery has the same bytes',
      // the record of the attempt is lost as well: the same delivery is sent again with a later sending time
      violations: [...accepted]
        .filter(([, all]) => new Set(all.filter(one => !isLost(lost, one.atMs)).map(one => one.rawBody)).size > 1)
        .map(([id]) => id),
    },
  ]
}

/** Time for an answer to arrive. */
const IN_FLIGHT_MS = 2_000
const isLost = (lost: readonly LostPeriod[], atMs: number) =>
  lost.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs + IN_FLIGHT_MS)

/** The entries that are in one list only, each as often as it is missing from the other. */
function listDifferences(expected: string[], found: string[]): string[] {
  const left = [...found]
  const missing = expected.filter(one => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return [...missing.map(one => `missing: ${one}`), ...left.map(one => `unexpected: ${one}`)]
}

/** An outage of this length must be reported whatever else fails meanwhile. */
const LONG_ENOUGH_MS = 150_000
export const isLongOutage = ({ fromMs, toMs }: ActualOutage) => (toMs ?? 0) - fromMs >= LONG_ENOUGH_MS

/** How long results from before the recovery may still arrive after the target has recovered. */
export const AFTERMATH_MS = 60_000

/** Real outages must be reported once, and no others. `monitorIds`: in the order of the targets. */
export function checkOutageReports(
  records: StoredRecords,
  outages: readonly ActualOutage[],
  monitorIds: readonly string[],
  isShort: boolean,
): CheckOutcome[] {
  const getMonitorId = ({ monitor }: { monitor: number }) => monitorIds[monitor]!
  const spans = listOutageSpans(records)
  const listReportedIn = ({ monitor, fromMs, toMs }: ActualOutage) =>
    spans.filter(
      span =>
        span.monitorId === getMonitorId({ monitor }) &&
        span.fromMs >= fromMs &&
        span.fromMs <= (toMs ?? fromMs) + AFTERMATH_MS,
    )
  const show = (outage: ActualOutage) =>
    `${getMonitorId(outage)} from ${formatTime(outage.fromMs)} to ${formatTime(outage.toMs ?? 0)}`
  const real = new Set(outages.flatMap(listReportedIn))
  const broken = new Set(outages.map(({ monitor }) => getMonitorId({ monitor })))
  const changes = records.transitions.filter(({ monitorId, to }) => !broken.has(monitorId) && to !== 'up')
  return [
    {
      statement: 'every long outage is reported',
      violations: outages.filter(one => (isShort || isLongOutage(one)) && listReportedIn(one).length === 0).map(show),
    },
    {
      statement: 'no outage is reported twice',
      violations: outages.filter(one => listReportedIn(one).length > 1).map(show),
    },
    {
      statement: 'every reported outage is real',
      violations: spans.filter(span => !real.has(span)).map(one => `${one.monitorId} ${formatTime(one.fromMs)}`),
    },
    {
      statement: 'every outage has ended',
      violations: spans.filter(span => !span.isOver).map(one => `${one.monitorId} ${formatTime(one.fromMs)}`),
    },
    {
      statement: 'a target that never fails is always up',
      violations: changes.map(one => `${one.monitorId} ${print(one)}`),
    },
  ]
}

/** A write that was answered 2xx must be stored once. Other writes, and those in a period that PostgreSQL lost, may be stored. */
export function checkCustomerWrites(
  written: ReadonlyMap<string, number>,
  unanswered: ReadonlySet<string>,
  { reports }: StoredRecords,
  lost: readonly LostPeriod[] = [],
): CheckOutcome {
  const storedUnacknowledged = [...unanswered].filter(title => reports.includes(title))
  const kept = [...written].filter(([title, atMs]) => reports.includes(title) || !isLost(lost, atMs))
  const violations = listDifferences([...kept.map(([title]) => title), ...storedUnacknowledged], reports)
  return { statement: 'every write that was answered 2xx is stored once', violations }
}
