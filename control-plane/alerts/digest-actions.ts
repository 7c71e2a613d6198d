import { enqueueDeliveries } from '../deliveries/actions.ts'
import type { NewDelivery } from '../deliveries/types.ts'
import { DIGEST, digestEvent, isChange, subjectOfDigest } from '../events/digest.ts'
import { insertEvents } from '../events/store.ts'
import { newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import {
  closeDigests,
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
  waitingInDigests,
  waitingSingly,
} from './digest-store.ts'
import { changesForDigest, digestDueAt, isStorm, sharesOf } from './grouping.ts'

/**
 * Puts changes into digests where many monitors of a project change within a minute, for the channels that take them:
 * chats and mail. Answers what is to be delivered by itself. A monitor's changes stay in order, however they are told.
 * Called with the monitors' rows locked, in the transaction of the events, set-based.
 */
export async function gatherDigests(tx: Tx, deliveries: NewDelivery[], now: Date): Promise<NewDelivery[]> {
  const changes = deliveries.filter(isChange)
  const channels = await groupableChannels(tx, [...new Set(changes.map(change => change.channelId))])
  if (channels.length === 0) return deliveries
  await lockGrouping(
    tx,
    channels.map(channel => channel.projectId),
  )
  const shares = sharesOf(changes, channels)
  const unclear = shares.filter(share => !isStorm(share, 0))
  const told = await countTold(tx, unclear, now)
  const stormy = shares.filter(share => isStorm(share, told.get(share.channelId) ?? 0))
  const calm = shares.filter(share => !stormy.includes(share))
  const waiting = new Map([...(await waitingSingly(tx, stormy)), ...(await waitingInDigests(tx, calm))])
  const gathered = shares.flatMap(share =>
    changesForDigest(share, stormy.includes(share), waiting.get(share.channelId) ?? NONE),
  )
  if (gathered.length === 0) return deliveries
  await addToDigests(tx, gathered, now)
  const isGathered = new Set(gathered)
  return deliveries.filter(delivery => !isGathered.has(delivery))
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
  const events = due.map(digest => digestEvent(newId(), projectId, digest, now))
  await insertEvents(tx, events)
  const deliveryIds = await enqueueDeliveries(
    tx,
    due.map(({ channelId }, i) => ({
      projectId,
      channelId,
      eventId: events[i]!.id,
      eventName: DIGEST,
      subject: subjectOfDigest(projectId),
    })),
    now,
  )
  await closeDigests(
    tx,
    due.map(({ id }, i) => ({ id, deliveryId: deliveryIds[i]! })),
    now,
  )
  await dropOldDigests(
    tx,
    due.map(digest => digest.channelId),
    now,
  )
}
