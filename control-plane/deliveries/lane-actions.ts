import type { Db, Tx } from '../platform/postgres.ts'
import { attempt } from './attempt.ts'
import { noteChatOutcomes } from './chat-actions.ts'
import { type Claiming, claimLanes } from './claim-store.ts'
import {
  headsOf,
  lockHeldLanes,
  type Recorded,
  recordAttempts,
  releaseLanes,
  skipPausedLanes,
  storeRendered,
} from './lane-store.ts'
import type { Lane } from './lanes.ts'
import { toLogged } from './log-entry.ts'
import { admitMails } from './mail-actions.ts'
import { paceRequests } from './pace-actions.ts'
import { countEnded } from './pause-actions.ts'
import { type Prepared, type PrepareTools, prepareAll } from './prepare.ts'
import { handOver } from './relay-store.ts'
import { countSubscribers, lockSubscribers, type SubscriberEnd } from './subscriber-actions.ts'
import type { Outcome } from './types.ts'

export type Claimed = {
  /** to be sent now */
  prepared: Prepared[]
  /** the queue may hold more that can be claimed at once */
  isMore: boolean
  /** where the next claim goes on, of projects with many channels */
  cursors: Map<string, string>
  /** how many mails ended unsent: no address was confirmed, or a limit was reached */
  keptBack: number
  /** how many mails leave without being counted, by address */
  uncounted: number
  /** when those are due that wait for others of their event */
  dueAt: Date[]
}

/**
 * Claims deliveries for `owner`, renders and signs them, and stores the bytes before anybody sends them.
 * What is for the built-in relay goes there. One that cannot be rendered is our own fault: it is logged as failed and its
 * lane goes on.
 */
export async function claimDeliveries(
  tx: Tx,
  claiming: Claiming,
  tools: PrepareTools & { db: Db },
  now: Date,
): Promise<Claimed> {
  const { lanes, cursors } = await claimLanes(tx, claiming, now)
  if (lanes.length === 0) return { prepared: [], isMore: false, cursors, keptBack: 0, uncounted: 0, dueAt: [] }
  const { prepared: ready, unfit } = prepareAll(await headsOf(tx, lanes), tools, now)
  // without a mail server a mail ends by itself, and says so
  const {
    sent: admitted,
    held,
    uncounted,
  } = tools.mailer ? await admitMails(tx, ready, tools, now) : { sent: ready, held: [], uncounted: 0 }
  const { leaving: prepared, dueAt } = await paceRequests(tx, admitted, tools, now)
  await storeRendered(tx, prepared, now)
  await recordAttempts(
    tx,
    [
      ...unfit.map(one => ({ ...one, status: 'failed', retryAt: null })),
      ...held.map(one => ({ ...one, status: 'skipped', retryAt: null })),
    ],
    now,
  )
  const sent = prepared.filter(one => one.relayOrigin === null)
  const handedOver = prepared.flatMap(one =>
    one.relayOrigin === null ? [] : [{ ...one, relayOrigin: one.relayOrigin }],
  )
  await handOver(tx, handedOver, now)
  if (sent.length < lanes.length) await giveBack(tx, lanes, sent, now)
  return { prepared: sent, isMore: true, cursors, keptBack: held.length, uncounted, dueAt }
}

/** Lanes that turned out to hold nothing to send: emptied, of a channel that was paused, with an unfit head or one that the relay has. */
async function giveBack(tx: Tx, lanes: Lane[], prepared: Prepared[], now: Date): Promise<void> {
  const sending = new Set(prepared.map(one => `${one.channelId} ${one.subject}`))
  const idle = lanes.filter(lane => !sending.has(`${lane.channelId} ${lane.subject}`))
  await skipPausedLanes(tx, idle, now)
  await releaseLanes(tx, idle, now)
}

/** `outcome` null: it was not sent, and its lane is given back as it was. */
export type Finished = { prepared: Prepared; outcome: Outcome | null }

/**
 * Writes down what requests came to, counts them against their channels and gives the lanes back. An outcome whose
 * lease was lost meanwhile is somebody else's now and is dropped. Answers when retries fall due.
 */
export async function finishDeliveries(
  tx: Tx,
  owner: string,
  finished: Finished[],
  now: Date,
): Promise<{ statuses: string[]; retries: Date[] }> {
  if (finished.length === 0) return { statuses: [], retries: [] }
  const held = await lockHeldLanes(
    tx,
    owner,
    finished.map(one => one.prepared),
  )
  const mine = new Set(held.map(lane => `${lane.channelId} ${lane.subject}`))
  const kept = finished.filter(({ prepared }) => mine.has(`${prepared.channelId} ${prepared.subject}`))
  const sent = kept.flatMap(({ prepared, outcome }) => (outcome === null ? [] : [{ prepared, outcome }]))
  const recorded = sent.map(one => toRecorded(one, now))
  const ended = sent.flatMap(({ prepared, outcome }, i) => {
    const status = recorded[i]?.status
    return status === 'pending' ? [] : [{ ...prepared, outcome, succeeded: status === 'delivered' }]
  })
  const ofSubscribers = ended.flatMap(toSubscriberEnd)
  const subscribers = await lockSubscribers(tx, ofSubscribers)
  await recordAttempts(tx, recorded, now)
  await countEnded(
    tx,
    ended.filter(one => one.subscriberId === null),
    now,
  )
  await countSubscribers(tx, subscribers, ofSubscribers, now)
  await noteChatOutcomes(tx, sent, now)
  await releaseLanes(tx, held, now)
  return { statuses: recorded.map(one => one.status), retries: recorded.flatMap(one => one.retryAt ?? []) }
}

function toSubscriberEnd({ subscriberId, message, outcome, succeeded }: Prepared & EndOfOne): SubscriberEnd[] {
  return subscriberId === null ? [] : [{ subscriberId, via: message.via, outcome, succeeded }]
}

type EndOfOne = { outcome: Outcome; succeeded: boolean }

function toRecorded({ prepared, outcome }: { prepared: Prepared; outcome: Outcome }, now: Date): Recorded {
  const next = attempt(prepared.attemptsMade + 1, outcome, now)
  const logged = toLogged(outcome)
  if (typeof next === 'string') return { id: prepared.id, attempt: logged, status: next, retryAt: null }
  return { id: prepared.id, attempt: logged, status: 'pending', retryAt: next.retryAt }
}
