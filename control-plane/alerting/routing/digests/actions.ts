import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import type { NewDelivery } from '../../deliveries/types.ts'
import { parseIncidentSubject, parseMonitorSubject } from '../../events/catalog.ts'
import { buildDigestEvent, DIGEST_EVENT, toDigestSubject } from '../../events/digest.ts'
import { insertEvents } from '../../events/store.ts'
import {
  closeDigests,
  type DueDigest,
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

/** A delivery before batching. `isChange`: a digest can show it in a line. */
export type RoutedDelivery = NewDelivery & { isChange: boolean }

type GroupableDelivery = NewDelivery & { monitorId: string | null }

/**
 * Moves changes into digests when many monitors of a project change within a minute (docs/design/alerting.md#digests).
 * Returns the deliveries that are sent singly. The events of a subject stay in order.
 * 1. Lock the channels that support digests (chats and mail), then the grouping of their projects.
 * 2. Separate changes from updates by people.
 * 3. Put the changes into digests where the threshold is passed, or where an earlier change of the subject waits in one.
 * 4. Put an update behind the digest that contains its incident.
 * The caller holds the rows of the monitors or the incident in the transaction of the events, or is the fan-out of the
 * project.
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

/** The same, for a caller that has locked the channels and the grouping of their projects. */
export async function groupIntoLockedDigests(
  tx: Tx,
  deliveries: RoutedDelivery[],
  channels: GroupableChannel[],
  now: Date,
): Promise<NewDelivery[]> {
  if (channels.length === 0) return deliveries
  const { changes, updates } = await splitChangesFromUpdates(tx, deliveries.filter(canBeGrouped))
  const grouped = [
    ...(await groupDeliveries(tx, changes, channels, now)),
    ...(await groupDeliveries(tx, updates, channels.map(withoutStormThreshold), now)),
  ]
  const groupedKeys = new Set(grouped.map(getDeliveryKey))
  return deliveries.filter(delivery => !groupedKeys.has(getDeliveryKey(delivery)))
}

const canBeGrouped = ({ isChange, subject }: RoutedDelivery) => isChange || parseIncidentSubject(subject) !== null
const withoutStormThreshold = (channel: GroupableChannel): GroupableChannel => ({
  ...channel,
  threshold: Number.POSITIVE_INFINITY,
})
const getDeliveryKey = ({ channelId, eventId }: NewDelivery) => `${channelId} ${eventId}`

/** `changes` of monitors and of the incidents that the system opened for them, and `updates`: actions of people on incidents. */
async function splitChangesFromUpdates(
  tx: Tx,
  deliveries: RoutedDelivery[],
): Promise<Record<'changes' | 'updates', GroupableDelivery[]>> {
  const incidentIds = deliveries.flatMap(({ isChange, subject }) => (isChange && parseIncidentSubject(subject)) || [])
  const monitors = await loadIncidentMonitors(tx, [...new Set(incidentIds)])
  const changes: GroupableDelivery[] = []
  const updates: GroupableDelivery[] = []
  for (const { isChange, ...delivery } of deliveries) {
    const { subject } = delivery
    const monitorId = parseMonitorSubject(subject) ?? monitors.get(parseIncidentSubject(subject) ?? '') ?? null
    if (isChange && monitorId !== null) changes.push({ ...delivery, monitorId })
    else updates.push({ ...delivery, monitorId: null })
  }
  return { changes, updates }
}

/** Returns the deliveries that are in a digest now. */
async function groupDeliveries(
  tx: Tx,
  changes: GroupableDelivery[],
  channels: GroupableChannel[],
  now: Date,
): Promise<GroupableDelivery[]> {
  const shares = groupByChannel(changes, channels).filter(share => share.changes.length > 0)
  const undecided = shares.filter(share => !isStorm(share, 0))
  const notified = await countNotifiedMonitors(tx, undecided, now)
  const stormy = shares.filter(share => isStorm(share, notified.get(share.channelId) ?? 0))
  const calm = shares.filter(share => !stormy.includes(share))
  const waiting = new Map([...(await listSubjectsQueuedSingly(tx, stormy)), ...(await listSubjectsInDigests(tx, calm))])
  const grouped = shares.flatMap(share =>
    selectDigestChanges(share, stormy.includes(share), waiting.get(share.channelId) ?? NONE),
  )
  if (grouped.length > 0) await addToDigests(tx, grouped, now)
  return grouped
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
  const digestIds = new Map(digests.map(({ channelId, id }) => [channelId, id]))
  await insertDigestEntries(
    tx,
    changes.map(change => ({ ...change, digestId: digestIds.get(change.channelId)! })),
    now,
  )
}

/** How long one project may wait for a lock that another transaction holds, while others have digests to send. */
const LOCK_TIMEOUT_MS = 1_000

/** `skip` gets the error of a project whose digests could not be sent; it throws to end the round. */
type ClosingLimits = { signal?: AbortSignal; skip?: (error: unknown, projectId: string) => void }

/**
 * Sends the digests that are due, each project in a transaction of its own and once. A project whose lock another transaction holds,
 * or that fails, is passed to `skip`, and the next one has its turn. Returns when the next digest is due, also one of a
 * skipped project.
 */
export async function closeDueDigests(
  db: Db,
  now: Date,
  { signal, skip = rethrow }: ClosingLimits = {},
): Promise<Date | null> {
  const due = await findNextDigestDue(db)
  if (due === null || due > now) return due
  const handled: string[] = []
  for (;;) {
    const projectIds = await listProjectsWithDueDigests(db, now, handled)
    if (projectIds.length === 0) return findNextDigestDue(db)
    for (const projectId of projectIds) {
      if (signal?.aborted) return findNextDigestDue(db)
      handled.push(projectId)
      await db.transaction(tx => closeProjectDigests(tx, projectId, now)).catch(error => skip(error, projectId))
    }
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** A transaction that adds to these digests waits for the lock, and then finds them closed. */
async function closeProjectDigests(tx: Tx, projectId: string, now: Date): Promise<void> {
  await setLockTimeout(tx, LOCK_TIMEOUT_MS)
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
}

/** The digest and the updates behind it, all in the lane of the project's digests. */
function buildDigestMessages(projectId: string, { channelId, projectName, changes, updates }: DueDigest, now: Date) {
  const event = changes.length > 0 ? buildDigestEvent(newId(), projectId, { projectName, changes }, now) : null
  const messages = [...(event ? [{ eventId: event.id, eventName: DIGEST_EVENT }] : []), ...updates]
  const deliveries = messages.map(one => ({ ...one, projectId, channelId, subject: toDigestSubject(projectId) }))
  return { event, deliveries }
}
