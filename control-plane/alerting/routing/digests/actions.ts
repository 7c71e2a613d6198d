import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import type { NewDelivery } from '../../deliveries/types.ts'
import { parseIncidentSubject, parseMonitorSubject } from '../../events/catalog.ts'
import { buildDigestEvent, DIGEST_EVENT, toDigestSubject } from '../../events/digest.ts'
import { insertEvents } from '../../events/store.ts'
import {
  closeDigests,
  type DueDigest,
  deleteOldDigests,
  findNextDigestDue,
  listProjectsWithDueDigests,
  loadDueDigests,
} from './closing-store.ts'
import { computeDigestDueAt, type GroupableChannel, groupByChannel, isStorm, selectDigestChanges } from './grouping.ts'
import {
  countNotifiedMonitors,
  insertDigestEntries,
  insertDigests,
  listSubjectsInDigests,
  listSubjectsQueuedSingly,
  loadDigestStates,
  loadIncidentMonitors,
  lockGroupableChannels,
  lockGrouping,
} from './store.ts'

/** A delivery that may be gathered. `isChange`: a digest can tell it in a line. */
export type RoutedDelivery = NewDelivery & { isChange: boolean }

type GroupableDelivery = NewDelivery & { monitorId: string | null }

/**
 * Puts changes into digests where many monitors of a project change within a minute, for the channels that take them:
 * chats and mail. What people say about an incident waits behind the digest that tells of it, if one does. Answers what
 * is to be delivered by itself. The events of a subject stay in order, however they are told. Called with the rows of
 * the monitors or the incident locked in the transaction of the events, or by the one fan-out of their project.
 */
export async function groupIntoDigests(tx: Tx, deliveries: RoutedDelivery[], now: Date): Promise<NewDelivery[]> {
  const channelIds = deliveries.filter(canBeGrouped).map(({ channelId }) => channelId)
  const channels = await lockGroupableChannels(tx, [...new Set(channelIds)])
  await lockGrouping(
    tx,
    channels.map(channel => channel.projectId),
  )
  return groupIntoLockedDigests(tx, deliveries, channels, now)
}

/** The same for a caller that holds the channels and has locked the grouping of their projects. */
export async function groupIntoLockedDigests(
  tx: Tx,
  deliveries: RoutedDelivery[],
  channels: GroupableChannel[],
  now: Date,
): Promise<NewDelivery[]> {
  if (channels.length === 0) return deliveries
  const { changes, words } = await splitChangesFromUpdates(tx, deliveries.filter(canBeGrouped))
  const gathered = [
    ...(await groupDeliveries(tx, changes, channels, now)),
    ...(await groupDeliveries(tx, words, channels.map(withoutStormThreshold), now)),
  ]
  const isGathered = new Set(gathered.map(getDeliveryKey))
  return deliveries.filter(delivery => !isGathered.has(getDeliveryKey(delivery)))
}

const canBeGrouped = ({ isChange, subject }: RoutedDelivery) => isChange || parseIncidentSubject(subject) !== null
const withoutStormThreshold = (channel: GroupableChannel): GroupableChannel => ({
  ...channel,
  threshold: Number.POSITIVE_INFINITY,
})
const getDeliveryKey = ({ channelId, eventId }: NewDelivery) => `${channelId} ${eventId}`

/** Changes of monitors and of the incidents that the system opened for them, and `words`: what people did with incidents. */
async function splitChangesFromUpdates(
  tx: Tx,
  deliveries: RoutedDelivery[],
): Promise<Record<'changes' | 'words', GroupableDelivery[]>> {
  const incidentIds = deliveries.flatMap(({ isChange, subject }) => (isChange && parseIncidentSubject(subject)) || [])
  const monitorOf = await loadIncidentMonitors(tx, [...new Set(incidentIds)])
  const changes: GroupableDelivery[] = []
  const words: GroupableDelivery[] = []
  for (const { isChange, ...delivery } of deliveries) {
    const { subject } = delivery
    const monitorId = parseMonitorSubject(subject) ?? monitorOf.get(parseIncidentSubject(subject) ?? '') ?? null
    if (isChange && monitorId !== null) changes.push({ ...delivery, monitorId })
    else words.push({ ...delivery, monitorId: null })
  }
  return { changes, words }
}

/** Answers those that are in a digest now. */
async function groupDeliveries(
  tx: Tx,
  changes: GroupableDelivery[],
  channels: GroupableChannel[],
  now: Date,
): Promise<GroupableDelivery[]> {
  const shares = groupByChannel(changes, channels).filter(share => share.changes.length > 0)
  const unclear = shares.filter(share => !isStorm(share, 0))
  const told = await countNotifiedMonitors(tx, unclear, now)
  const stormy = shares.filter(share => isStorm(share, told.get(share.channelId) ?? 0))
  const calm = shares.filter(share => !stormy.includes(share))
  const waiting = new Map([...(await listSubjectsQueuedSingly(tx, stormy)), ...(await listSubjectsInDigests(tx, calm))])
  const gathered = shares.flatMap(share =>
    selectDigestChanges(share, stormy.includes(share), waiting.get(share.channelId) ?? NONE),
  )
  if (gathered.length > 0) await addToDigests(tx, gathered, now)
  return gathered
}

const NONE: ReadonlySet<string> = new Set()

async function addToDigests(tx: Tx, changes: NewDelivery[], now: Date): Promise<void> {
  const projects = new Map(changes.map(({ channelId, projectId }) => [channelId, projectId]))
  const channels = await loadDigestStates(tx, [...projects.keys()])
  const digests = channels.map(({ channelId, openId, lastClosedAt }) => ({
    isNew: openId === null,
    id: openId ?? newId(),
    projectId: projects.get(channelId)!,
    channelId,
    dueAt: computeDigestDueAt(now, lastClosedAt),
  }))
  await insertDigests(
    tx,
    digests.filter(digest => digest.isNew),
  )
  const idOf = new Map(digests.map(({ channelId, id }) => [channelId, id]))
  await insertDigestEntries(
    tx,
    changes.map(change => ({ ...change, digestId: idOf.get(change.channelId)! })),
    now,
  )
}

/** Sends the digests that have gathered long enough. Answers when the next one will have. */
export async function closeDueDigests(db: Db, now: Date): Promise<Date | null> {
  const due = await findNextDigestDue(db)
  if (due === null || due > now) return due
  for (const projectId of await listProjectsWithDueDigests(db, now)) {
    await db.transaction(tx => closeProjectDigests(tx, projectId, now))
  }
  return findNextDigestDue(db)
}

/** Whoever adds to these digests waits for the lock, and then finds them closed. */
async function closeProjectDigests(tx: Tx, projectId: string, now: Date): Promise<void> {
  await lockGrouping(tx, [projectId])
  const due = await loadDueDigests(tx, projectId, now)
  if (due.length === 0) return
  const messages = due.map(digest => buildDigestMessages(projectId, digest, now))
  await insertEvents(
    tx,
    messages.flatMap(({ event }) => event ?? []),
  )
  const deliveries = messages.flatMap(message => message.deliveries)
  const deliveryIds = await enqueueDeliveries(tx, deliveries, now)
  const closed = due.map(({ id, channelId }) => {
    const last = deliveries.findLastIndex(delivery => delivery.channelId === channelId)
    return { id, deliveryId: deliveryIds[last]! }
  })
  await closeDigests(tx, closed, now)
  await deleteOldDigests(
    tx,
    due.map(digest => digest.channelId),
    now,
  )
}

/** The digest and what waited behind it, all in the digests' lane; the last one to arrive ends the waiting. */
function buildDigestMessages(projectId: string, { channelId, projectName, changes, words }: DueDigest, now: Date) {
  const event = changes.length > 0 ? buildDigestEvent(newId(), projectId, { projectName, changes }, now) : null
  const told = [...(event ? [{ eventId: event.id, eventName: DIGEST_EVENT }] : []), ...words]
  const deliveries = told.map(one => ({ ...one, projectId, channelId, subject: toDigestSubject(projectId) }))
  return { event, deliveries }
}
