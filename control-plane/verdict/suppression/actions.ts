import type { EventRow } from '../../alerting/events/catalog.ts'
import { insertEvents } from '../../alerting/events/store.ts'
import { routeEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import type { Tx } from '../../foundation/platform/postgres/client.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { INITIAL_REVIEW_STATE, reviewSuppression } from './review.ts'
import { loadEventsToSend } from './sent-events-store.ts'
import {
  deleteSilences,
  loadSuppressionContexts,
  lockSilences,
  type OutageCause,
  type Silence,
  type SuppressionContext,
  scheduleReview,
  storeOutageCauses,
  storeSilences,
} from './store.ts'
import { listNotificationsOnRemoval, type SuppressedTransition, suppressTransition } from './suppressed.ts'
import { computeGraceMs } from './timing.ts'

/** What happened to a monitor, and the events that it would be told by: its own and those of its automatic incident. */
export type StatusChange = {
  monitor: StoredMonitor
  transition: Omit<SuppressedTransition, 'eventIds'>
  events: EventRow[]
}

/**
 * Answers the events that may be told now. Those of monitors in maintenance, or below a parent that is down or may be
 * about to go down, are written down here and withheld; the worker tells later what has to be. Called in the verdict's
 * transaction, on locked monitor rows, at most once a monitor, before anything is announced.
 */
export async function suppressEvents(tx: Tx, changes: StatusChange[], now: Date): Promise<EventRow[]> {
  const ids = changes.map(({ monitor }) => monitor.id)
  const silences = await lockSilences(tx, ids)
  const contextOf = await loadSuppressionContexts(tx, ids, now)
  const decided = changes.map(change => {
    const context = contextOf(change.monitor.id)
    return { ...change, ...context, silence: computeSilence(change, silences.get(change.monitor.id), context, now) }
  })
  await insertEvents(
    tx,
    decided.flatMap(({ silence, events }) => (silence ? events : [])),
  )
  await storeSilences(
    tx,
    decided.flatMap(({ silence }) => silence ?? []),
  )
  await storeOutageCauses(
    tx,
    decided.flatMap(({ transition: step, causedBy, monitor }) => buildCauses(step, causedBy, monitor.id)),
  )
  const turned = changes.filter(({ transition: step }) => step.from === 'down' || step.to === 'down')
  await scheduleReview(
    tx,
    turned.map(({ monitor }) => monitor.id),
    now,
  )
  return decided.flatMap(({ silence, events }) => (silence ? [] : events))
}

/** Null when the changes may be told. What follows on something withheld is withheld too, so that the order stays. */
function computeSilence(
  { monitor, transition: step, events }: StatusChange,
  before: Silence | undefined,
  { conditions }: SuppressionContext,
  now: Date,
): Silence | null {
  if (!before && events.length === 0) return null
  const withheld = suppressTransition(before?.withheld ?? null, { ...step, eventIds: events.map(({ id }) => id) })
  const timing = { ...monitor, isHeartbeat: monitor.type === 'heartbeat' }
  const review = reviewSuppression(
    before ?? INITIAL_REVIEW_STATE,
    conditions,
    { isOutage: withheld.began !== null, graceMs: computeGraceMs(timing) },
    now,
  )
  const { isAsked } = before ?? { isAsked: false }
  if (review.kind === 'wait') return { ...review, monitorId: monitor.id, withheld, isAsked }
  return before ? { ...before, withheld, reason: 'turn', dueAt: now } : null
}

function buildCauses(step: StatusChange['transition'], causedBy: string | null, monitorId: string): OutageCause[] {
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
  const silences = await lockSilences(tx, ids)
  const suppressed = new Set<EventRow>()
  for (const { monitorId, events } of leaving) {
    const withheld = silences.get(monitorId)?.withheld
    if (!withheld) continue
    await routeEvents(tx, await loadEventsToSend(tx, listNotificationsOnRemoval(withheld)), now)
    if (withheld.outage === 'untold') for (const event of events) suppressed.add(event)
  }
  await deleteSilences(tx, [...silences.keys()])
  await insertEvents(tx, [...suppressed])
  return leaving.flatMap(({ events }) => events.filter(event => !suppressed.has(event)))
}
