import { queueDeliveries } from '../deliveries/actions.ts'
import type { EventRow } from '../events/catalog.ts'
import { isChange } from '../events/digest.ts'
import { insertEvents } from '../events/store.ts'
import type { Tx } from '../platform/postgres.ts'
import { channelsOf, type Heard } from './audience.ts'
import { readParts } from './audience-store.ts'
import { gatherAmong, type Tellable } from './digest-actions.ts'
import { holdFreeChannels, tryLockGrouping } from './digest-store.ts'
import { FEW, projectsWithFew } from './fan-out.ts'
import { insertFanOuts } from './fan-out-store.ts'
import { noteForPages } from './page-notice-store.ts'
import { upsertReminders } from './reminder-store.ts'
import { remindersOf } from './reminders.ts'

/**
 * Writes events down, next to what caused them, in the caller's transaction, set-based, and has them delivered to all
 * channels that hear of them (specification, "Subscription"). Every event that is made is announced with this.
 */
export async function announce(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  await insertEvents(tx, events)
  await tellEvents(tx, events, now)
}

/**
 * The second half, for events that were stored before and are announced only now. Where few channels of a project
 * hear of them, their deliveries are queued here. All others wait, committed with what caused them, for the fan-out
 * (fan-out-actions.ts), so that no writer of events works for many channels or waits for one.
 */
export async function tellEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  const announced = await announceAtOnce(tx, events, now)
  await insertFanOuts(
    tx,
    events.filter(({ projectId }) => !announced.has(projectId)),
  )
  await noteForPages(tx, events, now)
}

/** An event with everybody who hears of it, or a part of them. */
export type Hearing = { event: EventRow; heard: Heard; channelIds: string[] }

export const hearingOf = (event: EventRow, heard: Heard): Hearing => ({
  event,
  heard,
  channelIds: channelsOf(event, heard),
})

/**
 * Makes the deliveries of the projects that have few channels, none of which is being changed, and answers those
 * projects. A project of which something waits already is left out: its events are announced in their order.
 */
async function announceAtOnce(tx: Tx, events: EventRow[], now: Date): Promise<Set<string>> {
  const places = events.map(event => ({ event, after: null }))
  const parts = await readParts(tx, places, FEW)
  const hearings = places.map(({ event }, i) => ({ ...hearingOf(event, parts[i]!), isWhole: parts[i]!.until === null }))
  const few = projectsWithFew(
    hearings.map(({ event, channelIds, isWhole }) => ({
      projectId: event.projectId,
      deliveries: channelIds.length,
      isWhole,
    })),
  )
  const wanted = hearings.filter(({ event }) => few.has(event.projectId))
  const { groupable, busy } = await holdIfFree(tx, wanted)
  const free = wanted.filter(({ event }) => !busy.has(event.projectId))
  await queueDeliveries(tx, await gatherAmong(tx, free.flatMap(toDeliveries), groupable, now), now)
  await upsertReminders(
    tx,
    free.flatMap(hearing => remindersOf(hearing.event, hearing.heard.rules, now)),
  )
  return new Set([...few].filter(projectId => !busy.has(projectId)))
}

/**
 * Holds the channels, and the grouping of the projects that may get digests. `busy`: somebody else has some of it, or
 * something of the project waits. Its subjects' rows are held by the caller, so nothing of theirs comes to wait meanwhile.
 */
async function holdIfFree(tx: Tx, hearings: Hearing[]) {
  const held = await holdFreeChannels(tx, [...new Set(hearings.flatMap(({ channelIds }) => channelIds))])
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

export function toDeliveries({ event, channelIds }: Hearing): Tellable[] {
  const { projectId, id, name, subject } = event
  return channelIds.map(channelId => ({
    projectId,
    channelId,
    eventId: id,
    eventName: name,
    subject,
    isChange: isChange(event),
  }))
}
