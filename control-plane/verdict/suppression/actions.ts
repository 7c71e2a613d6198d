import type { EventRow } from '../../alerting/events/catalog.ts'
import { insertEvents } from '../../alerting/events/store.ts'
import { routeEvents, routeToChannels } from '../../alerting/routing/publishing/publish-actions.ts'
import type { Tx } from '../../foundation/platform/postgres/client.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { findMessagesOfPeople } from '../incidents/update-store.ts'
import { computeSilence } from './decisions.ts'
import { loadEventsToSend } from './sent-events-store.ts'
import {
  deleteSilences,
  loadSuppressionContexts,
  lockSilences,
  type OutageCause,
  scheduleReview,
  storeOutageCauses,
  storeSilences,
} from './store.ts'
import { endsUnknownOutage, listNotificationsOnRemoval, type SuppressedTransition } from './suppressed.ts'

/** A status change of a monitor, with its events: its own and those of its automatic incident. */
export type StatusChange = {
  monitor: StoredMonitor
  transition: Omit<SuppressedTransition, 'eventIds'>
  events: EventRow[]
}

/**
 * Returns the events that may be sent now, and withholds those of monitors that are in maintenance or silenced, or depend on a
 * monitor that is down or may go down soon (docs/design/suppression.md#suppressing-a-change). Called in the transaction
 * of the verdict, on locked monitors, at most once a monitor, before events are published:
 *
 * 1. Lock the existing silences of the monitors.
 * 2. Load maintenance periods, silences that people created, and ancestors.
 * 3. Decide for each monitor whether its events are withheld.
 * 4. Store the withheld events, without deliveries.
 * 5. Send the end of incidents about which people sent messages.
 * 6. Store the silences, with the steps to send later.
 * 7. Store causes: the nearest ancestor that is down, on transition and incident.
 * 8. Schedule a review of the monitors that depend on one that went down or recovered.
 * 9. Return the events that are not withheld.
 */
export async function suppressEvents(tx: Tx, changes: StatusChange[], now: Date): Promise<EventRow[]> {
  const ids = changes.map(({ monitor }) => monitor.id)
  const silences = await lockSilences(tx, ids)
  const contexts = await loadSuppressionContexts(tx, ids, now)
  const decided = changes.map(change => {
    const { monitor, events } = change
    const context = contexts(monitor.id)
    const timing = { ...monitor, isHeartbeat: monitor.type === 'heartbeat' }
    const transition = { ...change.transition, eventIds: events.map(({ id }) => id) }
    const silence = computeSilence(timing, transition, silences.get(monitor.id), context, now)
    return { ...change, ...context, silence }
  })
  await insertEvents(
    tx,
    decided.flatMap(({ silence, events }) => (silence ? events : [])),
  )
  await sendKnownIncidentEnds(
    tx,
    decided.flatMap(({ silence, transition, events }) =>
      silence && endsUnknownOutage(silence.withheld, transition) ? events : [],
    ),
    now,
  )
  await storeSilences(
    tx,
    decided.flatMap(({ silence }) => silence ?? []),
  )
  await storeOutageCauses(
    tx,
    decided.flatMap(({ transition, causedBy, monitor }) => buildCauses(transition, causedBy, monitor.id)),
  )
  const turned = changes.filter(({ transition }) => transition.from === 'down' || transition.to === 'down')
  await scheduleReview(
    tx,
    turned.map(({ monitor }) => monitor.id),
    now,
  )
  return decided.flatMap(({ silence, events }) => (silence ? [] : events))
}

function buildCauses(
  transition: StatusChange['transition'],
  causedBy: string | null,
  monitorId: string,
): OutageCause[] {
  if (causedBy === null || transition.to !== 'down' || transition.wasInOutage) return []
  return [{ monitorId, transitionId: transition.transitionId, causedBy }]
}

/**
 * Ends the silences of monitors that leave the verdict. Returns those of `events`, the ends of their automatic
 * incidents, that may be sent: none for an outage that receivers do not know, unless people sent messages about the incident;
 * these are sent here. The caller has locked the monitors.
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
  await sendKnownIncidentEnds(tx, [...suppressed], now)
  return leaving.flatMap(({ events }) => events.filter(event => !suppressed.has(event)))
}

/**
 * Sends those of withheld, stored `events` that end an incident about which people sent messages during the silence: receivers that
 * got these messages get the end. Subscribers of status pages get it only after a public message.
 */
async function sendKnownIncidentEnds(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  const ends = events.filter(({ name }) => name === 'incident.resolved')
  const messageKinds = await findMessagesOfPeople(
    tx,
    ends.map(({ subject }) => subject),
  )
  const withMessages = (kind: 'public' | 'internal') => ends.filter(({ subject }) => messageKinds.get(subject) === kind)
  await routeEvents(tx, withMessages('public'), now)
  await routeToChannels(tx, withMessages('internal'), now)
}
