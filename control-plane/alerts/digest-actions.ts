import { enqueueDeliveries } from '../deliveries/actions.ts'
import type { NewDelivery } from '../deliveries/types.ts'
import { incidentOfSubject, monitorOfSubject } from '../events/catalog.ts'
import { DIGEST, digestEvent, subjectOfDigest } from '../events/digest.ts'
import { insertEvents } from '../events/store.ts'
import { newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import {
  closeDigests,
  type DueDigest,
  dropOldDigests,
  dueDigests,
  nextDigestDue,
  projectsWithDueDigests,
} from './digest-close-store.ts'
import {
  countTold,
  digestsOf,
  groupableChannels,
  insertDigests,
  insertEntries,
  lockGrouping,
  monitorsOfIncidents,
  waitingInDigests,
  waitingSingly,
} from './digest-store.ts'
import { changesForDigest, digestDueAt, type Groupable, isStorm, sharesOf } from './grouping.ts'

/** A delivery that may be gathered. `isChange`: a digest can tell it in a line. */
export type Tellable = NewDelivery & { isChange: boolean }

type Gathering = NewDelivery & { monitorId: string | null }

/**
 * Puts changes into digests where many monitors of a project change within a minute, for the channels that take them:
 * chats and mail. What people say about an incident waits behind the digest that tells of it, if one does. Answers what
 * is to be delivered by itself. The events of a subject stay in order, however they are told. Called with the rows of
 * the monitors or the incident locked in the transaction of the events, or by the one fan-out of their project.
 */
export async function gatherDigests(tx: Tx, deliveries: Tellable[], now: Date): Promise<NewDelivery[]> {
  const channelIds = deliveries.filter(isGatherable).map(({ channelId }) => channelId)
  const channels = await groupableChannels(tx, [...new Set(channelIds)])
  await lockGrouping(
    tx,
    channels.map(channel => channel.projectId),
  )
  return gatherAmong(tx, deliveries, channels, now)
}

/** The same for a caller that holds the channels and has locked the grouping of their projects. */
export async function gatherAmong(
  tx: Tx,
  deliveries: Tellable[],
  channels: Groupable[],
  now: Date,
): Promise<NewDelivery[]> {
  if (channels.length === 0) return deliveries
  const { changes, words } = await divide(tx, deliveries.filter(isGatherable))
  const gathered = [
    ...(await gather(tx, changes, channels, now)),
    ...(await gather(tx, words, channels.map(neverInStorms), now)),
  ]
  const isGathered = new Set(gathered.map(keyOf))
  return deliveries.filter(delivery => !isGathered.has(keyOf(delivery)))
}

const isGatherable = ({ isChange, subject }: Tellable) => isChange || incidentOfSubject(subject) !== null
const neverInStorms = (channel: Groupable): Groupable => ({ ...channel, threshold: Number.POSITIVE_INFINITY })
const keyOf = ({ channelId, eventId }: NewDelivery) => `${channelId} ${eventId}`

/** Changes of monitors and of the incidents that the system opened for them, and `words`: what people did with incidents. */
async function divide(tx: Tx, deliveries: Tellable[]): Promise<Record<'changes' | 'words', Gathering[]>> {
  const incidentIds = deliveries.flatMap(({ isChange, subject }) => (isChange && incidentOfSubject(subject)) || [])
  const monitorOf = await monitorsOfIncidents(tx, [...new Set(incidentIds)])
  const changes: Gathering[] = []
  const words: Gathering[] = []
  for (const { isChange, ...delivery } of deliveries) {
    const { subject } = delivery
    const monitorId = monitorOfSubject(subject) ?? monitorOf.get(incidentOfSubject(subject) ?? '') ?? null
    if (isChange && monitorId !== null) changes.push({ ...delivery, monitorId })
    else words.push({ ...delivery, monitorId: null })
  }
  return { changes, words }
}

/** Answers those that are in a digest now. */
async function gather(tx: Tx, changes: Gathering[], channels: Groupable[], now: Date): Promise<Gathering[]> {
  const shares = sharesOf(changes, channels).filter(share => share.changes.length > 0)
  const unclear = shares.filter(share => !isStorm(share, 0))
  const told = await countTold(tx, unclear, now)
  const stormy = shares.filter(share => isStorm(share, told.get(share.channelId) ?? 0))
  const calm = shares.filter(share => !stormy.includes(share))
  const waiting = new Map([...(await waitingSingly(tx, stormy)), ...(await waitingInDigests(tx, calm))])
  const gathered = shares.flatMap(share =>
    changesForDigest(share, stormy.includes(share), waiting.get(share.channelId) ?? NONE),
  )
  if (gathered.length > 0) await addToDigests(tx, gathered, now)
  return gathered
}

const NONE: ReadonlySet<string> = new Set()

async function addToDigests(tx: Tx, changes: NewDelivery[], now: Date): Promise<void> {
  const projects = new Map(changes.map(({ channelId, projectId }) => [channelId, projectId]))
  const channels = await digestsOf(tx, [...projects.keys()])
  const digests = channels.map(({ channelId, openId, lastClosedAt }) => ({
    isNew: openId === null,
    id: openId ?? newId(),
    projectId: projects.get(channelId)!,
    channelId,
    dueAt: digestDueAt(now, lastClosedAt),
  }))
  await insertDigests(
    tx,
    digests.filter(digest => digest.isNew),
  )
  const idOf = new Map(digests.map(({ channelId, id }) => [channelId, id]))
  await insertEntries(
    tx,
    changes.map(change => ({ ...change, digestId: idOf.get(change.channelId)! })),
    now,
  )
}

/** Sends the digests that have gathered long enough. Answers when the next one will have. */
export async function closeDueDigests(db: Db, now: Date): Promise<Date | null> {
  const due = await nextDigestDue(db)
  if (due === null || due > now) return due
  for (const projectId of await projectsWithDueDigests(db, now)) {
    await db.transaction(tx => closeDigestsOf(tx, projectId, now))
  }
  return nextDigestDue(db)
}

/** Whoever adds to these digests waits for the lock, and then finds them closed. */
async function closeDigestsOf(tx: Tx, projectId: string, now: Date): Promise<void> {
  await lockGrouping(tx, [projectId])
  const due = await dueDigests(tx, projectId, now)
  if (due.length === 0) return
  const messages = due.map(digest => messagesOf(projectId, digest, now))
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
  await dropOldDigests(
    tx,
    due.map(digest => digest.channelId),
    now,
  )
}

/** The digest and what waited behind it, all in the digests' lane; the last one to arrive ends the waiting. */
function messagesOf(projectId: string, { channelId, projectName, changes, words }: DueDigest, now: Date) {
  const event = changes.length > 0 ? digestEvent(newId(), projectId, { projectName, changes }, now) : null
  const told = [...(event ? [{ eventId: event.id, eventName: DIGEST }] : []), ...words]
  const deliveries = told.map(one => ({ ...one, projectId, channelId, subject: subjectOfDigest(projectId) }))
  return { event, deliveries }
}
