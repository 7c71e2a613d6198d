import { tellEvents } from '../alerts/announce-actions.ts'
import type { EventRow } from '../events/catalog.ts'
import { insertEvents } from '../events/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Tx } from '../platform/postgres.ts'
import { graceMsOf } from './patience.ts'
import { NO_COURSE, review } from './review.ts'
import {
  type Cause,
  type Ground,
  groundsOf,
  lookSoon,
  removeSilences,
  type Silence,
  silencesOf,
  storeCauses,
  storeSilences,
} from './store.ts'
import { toldEvents } from './told-store.ts'
import { type Step, tellingsOfLeaving, withhold } from './withheld.ts'

/** What happened to a monitor, and the events that it would be told by: its own and those of its automatic incident. */
export type News = { monitor: StoredMonitor; step: Omit<Step, 'eventIds'>; events: EventRow[] }

/**
 * Answers the events that may be told now. Those of monitors in maintenance, or below a parent that is down or may be
 * about to go down, are written down here and withheld; the worker tells later what has to be. Called in the verdict's
 * transaction, on locked monitor rows, at most once a monitor, before anything is announced.
 */
export async function withholdNews(tx: Tx, news: News[], now: Date): Promise<EventRow[]> {
  const ids = news.map(({ monitor }) => monitor.id)
  const silences = await silencesOf(tx, ids)
  const groundOf = await groundsOf(tx, ids, now)
  const judged = news.map(one => {
    const ground = groundOf(one.monitor.id)
    return { ...one, ...ground, silence: silenceAfter(one, silences.get(one.monitor.id), ground, now) }
  })
  await insertEvents(
    tx,
    judged.flatMap(({ silence, events }) => (silence ? events : [])),
  )
  await storeSilences(
    tx,
    judged.flatMap(({ silence }) => silence ?? []),
  )
  await storeCauses(
    tx,
    judged.flatMap(({ step, causedBy, monitor }) => causesOf(step, causedBy, monitor.id)),
  )
  const turned = news.filter(({ step }) => step.from === 'down' || step.to === 'down')
  await lookSoon(
    tx,
    turned.map(({ monitor }) => monitor.id),
    now,
  )
  return judged.flatMap(({ silence, events }) => (silence ? [] : events))
}

/** Null when the news may be told. What follows on something withheld is withheld too, so that the order stays. */
function silenceAfter(
  { monitor, step, events }: News,
  before: Silence | undefined,
  { reasons }: Ground,
  now: Date,
): Silence | null {
  if (!before && events.length === 0) return null
  const withheld = withhold(before?.withheld ?? null, { ...step, eventIds: events.map(({ id }) => id) })
  const pace = { ...monitor, isHeartbeat: monitor.type === 'heartbeat' }
  const finding = review(
    before ?? NO_COURSE,
    reasons,
    { isOutage: withheld.began !== null, graceMs: graceMsOf(pace) },
    now,
  )
  const { isAsked } = before ?? { isAsked: false }
  if (finding.kind === 'wait') return { ...finding, monitorId: monitor.id, withheld, isAsked }
  return before ? { ...before, withheld, reason: 'turn', dueAt: now } : null
}

function causesOf(step: News['step'], causedBy: string | null, monitorId: string): Cause[] {
  if (causedBy === null || step.to !== 'down' || step.wasInOutage) return []
  return [{ monitorId, transitionId: step.transitionId, causedBy }]
}

/**
 * Ends silences with their monitors leaving the verdict (decisions 4.8). Answers which of `events`, the ends of their
 * automatic incidents, may be told: none of a monitor of whose outage nobody was told. The monitors' rows are locked.
 */
export async function endSilences(
  tx: Tx,
  leaving: { monitorId: string; events: EventRow[] }[],
  now: Date,
): Promise<EventRow[]> {
  const ids = leaving.map(({ monitorId }) => monitorId)
  const silences = await silencesOf(tx, ids)
  const untold = new Set<EventRow>()
  for (const { monitorId, events } of leaving) {
    const withheld = silences.get(monitorId)?.withheld
    if (!withheld) continue
    await tellEvents(tx, await toldEvents(tx, tellingsOfLeaving(withheld)), now)
    if (withheld.outage === 'untold') for (const event of events) untold.add(event)
  }
  await removeSilences(tx, [...silences.keys()])
  await insertEvents(tx, [...untold])
  return leaving.flatMap(({ events }) => events.filter(event => !untold.has(event)))
}
