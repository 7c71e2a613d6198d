import { findRejectReason } from '../../control-plane/insight/analytics/recording/result-line.ts'
import { type Result, STATUS_OF_OUTCOME, Trigger } from '../../shared/checks/result.ts'
import type { Received } from '../support/receiver.ts'
import type { Acknowledged } from './ledger.ts'
import type { Records, StoredTransition } from './records.ts'
import type { Replayed } from './replay.ts'
import type { LostTime } from './standby.ts'
import type { Outage } from './targets.ts'
import { isOfItsRegion } from './wrong-messages.ts'

/** A sentence that has to be true, and what there is against it; nothing is what is wanted. */
export type Check = { sentence: string; against: string[] }

/** Every acknowledged result of a region that checks its monitor is in ClickHouse once, and nothing else is. */
export function checkHistory(messages: readonly Acknowledged[], { history, historyTwice, monitors }: Records): Check[] {
  const regionsOf = new Map(monitors.map(({ id, regions }) => [id, regions]))
  const acknowledged = new Map<string, string>()
  for (const { subject, batch, takenAtMs } of messages) {
    const isRecordable = (result: Result) =>
      isOfItsRegion(subject, batch) &&
      (regionsOf.get(result.monitorId)?.includes(batch.region) ?? true) &&
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
    { sentence: 'every acknowledged result is in the history', against: lost },
    {
      sentence: 'each says there what it said',
      against: changed.map(([key, status]) => `${key}: ${status}, there ${history.get(key)}`),
    },
    { sentence: 'the history holds each once', against: historyTwice > 0 ? [`${historyTwice} twice`] : [] },
    { sentence: 'the history holds nothing that was never acknowledged', against: invented },
  ]
}

const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 23)
const print = (one: { from: string | null; to: string | null; atMs: number; quorum: string }) =>
  `${timeOf(one.atMs)} ${one.from} to ${one.to} (${one.quorum})`

/**
 * Same monitors, statuses, times and quorum, in the same order. Monitors with a region that had no probe for a while are left
 * out: results do not say when the verdict learned of that.
 */
export function checkTransitions(
  replayed: readonly Replayed[],
  { monitors, transitions, absentRegions }: Records,
): Check {
  const compared = monitors.filter(({ regions }) => !regions.some(region => absentRegions.includes(region)))
  const against = compared.flatMap(({ id }) => {
    const expected = replayed.filter(one => one.monitorId === id).map(({ transition }) => print(transition))
    const stored = transitions.filter(one => one.monitorId === id).map(print)
    return expected.join() === stored.join()
      ? []
      : [`${id}: stored ${stored.join(', ')}; by replay ${expected.join(', ')}`]
  })
  return { sentence: 'the stored transitions are those of a replay of the results', against }
}

/** An outage of the verdict: from reaching down until reaching up. */
type Span = { monitorId: string; fromMs: number; isOver: boolean }

function spansOf({ transitions }: Records): Span[] {
  const spans: Span[] = []
  for (const { monitorId, to, atMs } of transitions) {
    const open = spans.find(span => span.monitorId === monitorId && !span.isOver)
    if (to === 'down' && !open) spans.push({ monitorId, fromMs: atMs, isOver: false })
    if (to === 'up' && open) open.isOver = true
  }
  return spans
}

/** One incident an outage; of each change one event told by one delivery. */
export function checkTelling(
  records: Records,
  accepted: Map<string, Received[]>,
  lost: readonly LostTime[] = [],
): Check[] {
  const { incidents, transitions, deliveries } = records
  const spans = spansOf(records)
  const list = (items: { monitorId: string; ms: number }[]) =>
    items.map(({ monitorId, ms }) => `${monitorId} ${timeOf(ms)}`).sort()
  const outages = list(spans.map(({ monitorId, fromMs }) => ({ monitorId, ms: fromMs })))
  const opened = list(incidents.map(({ monitorId, startedMs }) => ({ monitorId, ms: startedMs })))
  const expected = toldOf(transitions).map(({ monitorId, to, atMs }) => `${monitorId} monitor.${to} ${timeOf(atMs)}`)
  const sent = deliveries.filter(({ event }) => event.startsWith('monitor.'))
  const queued = sent.map(({ monitorId, event, occurredMs }) => `${monitorId} ${event} ${timeOf(occurredMs)}`)
  return [
    { sentence: 'one incident an outage', against: differences(outages, opened) },
    {
      sentence: 'every incident is resolved',
      against: incidents.filter(one => !one.isResolved).map(one => one.monitorId),
    },
    {
      sentence: 'one delivery id each time it goes down, and one when an outage ends',
      against: differences(expected, queued),
    },
    ...checkDeliveries(records, accepted, lost),
  ]
}

/** What a default channel hears of: every time it goes down, and the end of each outage; nothing of `degraded`. */
function toldOf(transitions: readonly StoredTransition[]): StoredTransition[] {
  const down = new Set<string>()
  return transitions.filter(({ monitorId, to }) => {
    const isEnd = to === 'up' && down.delete(monitorId)
    if (to === 'down') down.add(monitorId)
    return to === 'down' || isEnd
  })
}

/** What was reported in seconds that PostgreSQL has lost may be reported again, with another id. */
function checkDeliveries(
  { deliveries }: Records,
  accepted: Map<string, Received[]>,
  lost: readonly LostTime[],
): Check[] {
  const known = new Map(deliveries.map(delivery => [delivery.id, delivery]))
  const show = ({ id, event, status, attempts }: Records['deliveries'][number]) =>
    `${id} ${event} ${status} ${JSON.stringify(attempts)}`
  return [
    { sentence: 'no delivery is pending', against: deliveries.filter(one => one.status === 'pending').map(show) },
    {
      sentence: 'every delivery arrived',
      against: deliveries.filter(one => one.status !== 'delivered' || !accepted.has(one.id)).map(show),
    },
    {
      sentence: 'whatever the receiver took is told as delivered',
      against: [...accepted]
        .filter(([id, all]) => known.has(id) || !all.every(({ atMs }) => isLost(lost, atMs)))
        .map(([id]) => id)
        .filter(id => known.get(id)?.status !== 'delivered'),
    },
    {
      sentence: 'what comes twice is the same bytes',
      // what was sent is lost with the rest: the same delivery is sent again, with another time of sending
      against: [...accepted]
        .filter(([, all]) => new Set(all.filter(one => !isLost(lost, one.atMs)).map(one => one.rawBody)).size > 1)
        .map(([id]) => id),
    },
  ]
}

/** For an answer to arrive. */
const ON_THE_WAY_MS = 2_000
const isLost = (lost: readonly LostTime[], atMs: number) =>
  lost.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs + ON_THE_WAY_MS)

/** What is in the one list and not in the other, as often as it is. */
function differences(expected: string[], found: string[]): string[] {
  const left = [...found]
  const missing = expected.filter(one => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return [...missing.map(one => `missing: ${one}`), ...left.map(one => `too much: ${one}`)]
}

/** An outage that lasts so long is told, whatever else fails meanwhile, in ms. */
const LONG_ENOUGH_MS = 150_000
export const isLong = ({ fromMs, toMs }: Outage) => (toMs ?? 0) - fromMs >= LONG_ENOUGH_MS

/** After the target is well again results from before may still come. */
export const AFTERMATH_MS = 60_000

/** What a customer asks for: real outages are told once, and there are no others. `monitorIds`: in the order of the targets. */
export function checkPromise(
  records: Records,
  outages: readonly Outage[],
  monitorIds: readonly string[],
  isShort: boolean,
): Check[] {
  const idOf = ({ monitor }: { monitor: number }) => monitorIds[monitor]!
  const spans = spansOf(records)
  const toldIn = ({ monitor, fromMs, toMs }: Outage) =>
    spans.filter(
      span =>
        span.monitorId === idOf({ monitor }) && span.fromMs >= fromMs && span.fromMs <= (toMs ?? fromMs) + AFTERMATH_MS,
    )
  const show = (outage: Outage) => `${idOf(outage)} from ${timeOf(outage.fromMs)} to ${timeOf(outage.toMs ?? 0)}`
  const real = new Set(outages.flatMap(toldIn))
  const broken = new Set(outages.map(({ monitor }) => idOf({ monitor })))
  const changes = records.transitions.filter(({ monitorId, to }) => !broken.has(monitorId) && to !== 'up')
  return [
    {
      sentence: 'every long outage is told',
      against: outages.filter(one => (isShort || isLong(one)) && toldIn(one).length === 0).map(show),
    },
    { sentence: 'no outage is told twice', against: outages.filter(one => toldIn(one).length > 1).map(show) },
    {
      sentence: 'no outage is told that was none',
      against: spans.filter(span => !real.has(span)).map(one => `${one.monitorId} ${timeOf(one.fromMs)}`),
    },
    {
      sentence: 'every outage has ended',
      against: spans.filter(span => !span.isOver).map(one => `${one.monitorId} ${timeOf(one.fromMs)}`),
    },
    {
      sentence: 'a target that is always well is always up',
      against: changes.map(one => `${one.monitorId} ${print(one)}`),
    },
  ]
}

/** Every write that was answered 2xx is there once; one that was not may be, and one in seconds that PostgreSQL has lost. */
export function checkWrites(
  written: ReadonlyMap<string, number>,
  unanswered: ReadonlySet<string>,
  { reports }: Records,
  lost: readonly LostTime[] = [],
): Check {
  const lucky = [...unanswered].filter(title => reports.includes(title))
  const kept = [...written].filter(([title, atMs]) => reports.includes(title) || !isLost(lost, atMs))
  const against = differences([...kept.map(([title]) => title), ...lucky], reports)
  return { sentence: 'every write that was answered 2xx is there once', against }
}
