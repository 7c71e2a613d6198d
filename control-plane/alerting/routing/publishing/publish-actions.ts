import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueToLockedChannels } from '../../deliveries/queue/enqueue-actions.ts'
import type { EventRow } from '../../events/catalog.ts'
import { isDigestible } from '../../events/digest.ts'
import { insertEvents } from '../../events/store.ts'
import { groupIntoLockedDigests, type RoutedDelivery } from '../digests/actions.ts'
import { tryLockChannels, tryLockGrouping } from '../digests/store.ts'
import { type LoadedAudience, listRecipientChannels } from '../recipients/audience.ts'
import { loadAudienceParts } from '../recipients/audience-store.ts'
import { buildReminders } from '../reminders/reminder.ts'
import { upsertReminders } from '../reminders/store.ts'
import { MAX_INLINE_LISTENERS, selectInlineProjects } from './fan-out.ts'
import { insertFanOuts } from './fan-out-store.ts'
import { queuePageNotifications } from './page-notification-store.ts'

/**
 * Writes events down, next to what caused them, in the caller's transaction, set-based, and has them delivered to all
 * channels that hear of them (specification, "Subscription"). Every event that is made is announced with this.
 */
export async function publishEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  await insertEvents(tx, events)
  await routeEvents(tx, events, now)
}

/**
 * The second half, for events that were stored before and are announced only now. Where few channels of a project
 * hear of them, their deliveries are queued here. All others wait, committed with what caused them, for the fan-out
 * (fan-out-actions.ts), so that no writer of events works for many channels or waits for one.
 */
export async function routeEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  const announced = await routeInline(tx, events, now)
  await insertFanOuts(
    tx,
    events.filter(({ projectId }) => !announced.has(projectId)),
  )
  await queuePageNotifications(tx, events, now)
}

/** An event with everybody who hears of it, or a part of them. */
export type EventRecipients = { event: EventRow; audience: LoadedAudience; channelIds: string[] }

export const resolveRecipients = (event: EventRow, heard: LoadedAudience): EventRecipients => ({
  event,
  audience: heard,
  channelIds: listRecipientChannels(event, heard),
})

/**
 * Makes the deliveries of the projects that have few channels, none of which is being changed, and answers those
 * projects. A project of which something waits already is left out: its events are announced in their order.
 */
async function routeInline(tx: Tx, events: EventRow[], now: Date): Promise<Set<string>> {
  const places = events.map(event => ({ event, after: null }))
  const parts = await loadAudienceParts(tx, places, MAX_INLINE_LISTENERS)
  const hearings = places.map(({ event }, i) => ({
    ...resolveRecipients(event, parts[i]!),
    isWhole: parts[i]!.until === null,
  }))
  const few = selectInlineProjects(
    hearings.map(({ event, channelIds, isWhole }) => ({
      projectId: event.projectId,
      deliveries: channelIds.length,
      isWhole,
    })),
  )
  const wanted = hearings.filter(({ event }) => few.has(event.projectId))
  const { groupable, busy } = await lockIfFree(tx, wanted)
  const free = wanted.filter(({ event }) => !busy.has(event.projectId))
  await enqueueToLockedChannels(tx, await groupIntoLockedDigests(tx, free.flatMap(toDeliveries), groupable, now), now)
  await upsertReminders(
    tx,
    free.flatMap(hearing => buildReminders(hearing.event, hearing.audience.rules, now)),
  )
  return new Set([...few].filter(projectId => !busy.has(projectId)))
}

/**
 * Holds the channels, and the grouping of the projects that may get digests. `busy`: somebody else has some of it, or
 * something of the project waits. Its subjects' rows are held by the caller, so nothing of theirs comes to wait meanwhile.
 */
async function lockIfFree(tx: Tx, hearings: EventRecipients[]) {
  const held = await tryLockChannels(tx, [...new Set(hearings.flatMap(({ channelIds }) => channelIds))])
  const isHeld = new Set(held.map(({ channelId }) => channelId))
  const groupable = held.flatMap(one => one.groupable ?? [])
  const waiting = held.filter(({ isWaiting }) => isWaiting)
  const grouping = [...new Set(groupable.map(({ projectId }) => projectId))]
  const locked = await tryLockGrouping(tx, grouping)
  const missed = hearings.filter(({ channelIds }) => !channelIds.every(id => isHeld.has(id)))
  const busy = new Set([
    ...missed.map(({ event }) => event.projectId),
    ...waiting.map(({ projectId }) => projectId),
    ...grouping.filter(projectId => !locked.has(projectId)),
  ])
  return { busy, groupable: groupable.filter(({ projectId }) => !busy.has(projectId)) }
}

export function toDeliveries({ event, channelIds }: EventRecipients): RoutedDelivery[] {
  const { projectId, id, name, subject } = event
  return channelIds.map(channelId => ({
    projectId,
    channelId,
    eventId: id,
    eventName: name,
    subject,
    isChange: isDigestible(event),
  }))
}
