import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { recordChannelResults } from '../attempts/channel-failure-actions.ts'
import { applyChatOutcomes } from '../attempts/chat-outcome-actions.ts'
import { decideRetry } from '../attempts/retry-policy.ts'
import {
  lockSubscribers,
  recordSubscriberResults,
  type SubscriberResult,
} from '../attempts/subscriber-failure-actions.ts'
import { admitMails } from '../limits/mail-actions.ts'
import { paceRequests } from '../limits/pace-actions.ts'
import { toLoggedAttempt } from '../log/log-entry.ts'
import { handOver } from '../relay/message-store.ts'
import { type PreparedDelivery, type PrepareTools, prepareAll } from '../rendering/prepare.ts'
import type { DeliveryOutcome } from '../types.ts'
import { type ClaimRequest, claimLanes } from './claim-store.ts'
import {
  type AttemptRecord,
  loadLaneHeads,
  lockLeasedLanes,
  recordAttempts,
  releaseLanes,
  skipPausedLanes,
  storeRendered,
} from './lane-store.ts'
import type { Lane } from './lanes.ts'

export type ClaimResult = {
  /** to be sent now */
  prepared: PreparedDelivery[]
  /** the queue may hold more that can be claimed at once */
  isMore: boolean
  /** where the next claim goes on, of projects with many channels */
  cursors: Map<string, string>
  /** how many mails ended unsent: no address was confirmed, or a limit was reached */
  withheldMails: number
  /** how many mails leave without being counted, by address */
  uncountedMails: number
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
  claiming: ClaimRequest,
  tools: PrepareTools & { db: Db },
  now: Date,
): Promise<ClaimResult> {
  const { lanes, cursors } = await claimLanes(tx, claiming, now)
  if (lanes.length === 0)
    return { prepared: [], isMore: false, cursors, withheldMails: 0, uncountedMails: 0, dueAt: [] }
  const { prepared: ready, unrenderable: unfit } = prepareAll(await loadLaneHeads(tx, lanes), tools, now)
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
  if (sent.length < lanes.length) await releaseIdleLanes(tx, lanes, sent, now)
  return { prepared: sent, isMore: true, cursors, withheldMails: held.length, uncountedMails: uncounted, dueAt }
}

/** Lanes that turned out to hold nothing to send: emptied, of a channel that was paused, with an unfit head or one that the relay has. */
async function releaseIdleLanes(tx: Tx, lanes: Lane[], prepared: PreparedDelivery[], now: Date): Promise<void> {
  const sending = new Set(prepared.map(one => `${one.channelId} ${one.subject}`))
  const idle = lanes.filter(lane => !sending.has(`${lane.channelId} ${lane.subject}`))
  await skipPausedLanes(tx, idle, now)
  await releaseLanes(tx, idle, now)
}

/** `outcome` null: it was not sent, and its lane is given back as it was. */
export type FinishedAttempt = { prepared: PreparedDelivery; outcome: DeliveryOutcome | null }

/**
 * Writes down what requests came to, counts them against their channels and gives the lanes back. An outcome whose
 * lease was lost meanwhile is somebody else's now and is dropped. Answers when retries fall due.
 */
export async function finishDeliveries(
  tx: Tx,
  owner: string,
  finished: FinishedAttempt[],
  now: Date,
): Promise<{ statuses: string[]; retries: Date[] }> {
  if (finished.length === 0) return { statuses: [], retries: [] }
  const held = await lockLeasedLanes(
    tx,
    owner,
    finished.map(one => one.prepared),
  )
  const mine = new Set(held.map(lane => `${lane.channelId} ${lane.subject}`))
  const kept = finished.filter(({ prepared }) => mine.has(`${prepared.channelId} ${prepared.subject}`))
  const sent = kept.flatMap(({ prepared, outcome }) => (outcome === null ? [] : [{ prepared, outcome }]))
  const recorded = sent.map(one => toAttemptRecord(one, now))
  const ended = sent.flatMap(({ prepared, outcome }, i) => {
    const status = recorded[i]?.status
    return status === 'pending' ? [] : [{ ...prepared, outcome, succeeded: status === 'delivered' }]
  })
  const ofSubscribers = ended.flatMap(toSubscriberResults)
  const subscribers = await lockSubscribers(tx, ofSubscribers)
  await recordAttempts(tx, recorded, now)
  await recordChannelResults(
    tx,
    ended.filter(one => one.subscriberId === null),
    now,
  )
  await recordSubscriberResults(tx, subscribers, ofSubscribers, now)
  await applyChatOutcomes(tx, sent, now)
  await releaseLanes(tx, held, now)
  return { statuses: recorded.map(one => one.status), retries: recorded.flatMap(one => one.retryAt ?? []) }
}

function toSubscriberResults({
  subscriberId,
  message,
  outcome,
  succeeded,
}: PreparedDelivery & AttemptEnd): SubscriberResult[] {
  return subscriberId === null ? [] : [{ subscriberId, via: message.via, outcome, succeeded }]
}

type AttemptEnd = { outcome: DeliveryOutcome; succeeded: boolean }

function toAttemptRecord(
  { prepared, outcome }: { prepared: PreparedDelivery; outcome: DeliveryOutcome },
  now: Date,
): AttemptRecord {
  const next = decideRetry(prepared.attemptsMade + 1, outcome, now)
  const logged = toLoggedAttempt(outcome)
  if (typeof next === 'string') return { id: prepared.id, attempt: logged, status: next, retryAt: null }
  return { id: prepared.id, attempt: logged, status: 'pending', retryAt: next.retryAt }
}
