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
 * Stores events in the transaction of their cause, and has them delivered to all channels that receive them
 * (docs/design/alerting.md#publishing). Every new event is published with this function.
 */
export async function publishEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  await insertEvents(tx, events)
  await routeEvents(tx, events, now)
}

/**
 * Delivers events that are stored already:
 * 1. Queue the deliveries of projects with few recipients in this transaction.
 * 2. Leave all others to the fan-out (fan-out-actions.ts), so that the transaction of an event never makes many deliveries
 *    and never waits for the lock of a channel.
 * 3. Queue the notifications of status pages.
 */
export async function routeEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  await routeToChannels(tx, events, now)
  await queuePageNotifications(tx, events, now)
}

/** Delivers events that are stored already to alert channels, and not to subscribers of status pages. */
export async function routeToChannels(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  const routed = await routeInline(tx, events, now)
  await insertFanOuts(
    tx,
    events.filter(({ projectId }) => !routed.has(projectId)),
  )
}

/** An event with all of its recipients, or a part of them. */
export type EventRecipients = { event: EventRow; audience: LoadedAudience; channelIds: string[] }

export const resolveRecipients = (event: EventRow, audience: LoadedAudience): EventRecipients => ({
  event,
  audience,
  channelIds: listRecipientChannels(event, audience),
})

/**
 * Queues the deliveries of the projects with few recipients, and returns these projects. Left out are projects with a
 * channel that another transaction is changing, and projects with events that wait for the fan-out, because events are
 * delivered in order.
 */
async function routeInline(tx: Tx, events: EventRow[], now: Date): Promise<Set<string>> {
  const positions = events.map(event => ({ event, after: null }))
  const parts = await loadAudienceParts(tx, positions, MAX_INLINE_LISTENERS)
  const resolved = positions.map(({ event }, i) => ({
    ...resolveRecipients(event, parts[i]!),
    isWhole: parts[i]!.until === null,
  }))
  const inlineProjects = selectInlineProjects(
    resolved.map(({ event, channelIds, isWhole }) => ({
      projectId: event.projectId,
      deliveries: channelIds.length,
      isWhole,
    })),
  )
  const candidates = resolved.filter(({ event }) => inlineProjects.has(event.projectId))
  const { groupable, busy } = await lockIfFree(tx, candidates)
  const free = candidates.filter(({ event }) => !busy.has(event.projectId))
  await enqueueToLockedChannels(tx, await groupIntoLockedDigests(tx, free.flatMap(toDeliveries), groupable, now), now)
  await upsertReminders(
    tx,
    free.flatMap(({ event, audience }) => buildReminders(event, audience.rules, now)),
  )
  return new Set([...inlineProjects].filter(projectId => !busy.has(projectId)))
}

/**
 * Locks the channels, and the grouping of the projects whose channels support digests. `busy`: projects for which another
 * transaction holds one of these locks, or whose events wait for the fan-out. The caller holds the rows of the subjects,
 * so no other event of a subject can start to wait meanwhile.
 */
async function lockIfFree(tx: Tx, resolved: EventRecipients[]) {
  const lockedChannels = await tryLockChannels(tx, [...new Set(resolved.flatMap(({ channelIds }) => channelIds))])
  const lockedIds = new Set(lockedChannels.map(({ channelId }) => channelId))
  const groupable = lockedChannels.flatMap(one => one.groupable ?? [])
  const waiting = lockedChannels.filter(({ isWaiting }) => isWaiting)
  const grouping = [...new Set(groupable.map(({ projectId }) => projectId))]
  const lockedProjects = await tryLockGrouping(tx, grouping)
  const missed = resolved.filter(({ channelIds }) => !channelIds.every(id => lockedIds.has(id)))
  const busy = new Set([
    ...missed.map(({ event }) => event.projectId),
    ...waiting.map(({ projectId }) => projectId),
    ...grouping.filter(projectId => !lockedProjects.has(projectId)),
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
