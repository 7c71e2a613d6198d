import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { recordChannelResults } from '../attempts/channel-failure-actions.ts'
import { applyChatOutcomes } from '../attempts/chat-outcome-actions.ts'
import { isAttributable } from '../attempts/failure-count.ts'
import { decideRetry, postponeAttempt } from '../attempts/retry-policy.ts'
import {
  lockSubscribers,
  recordSubscriberResults,
  type SubscriberResult,
} from '../attempts/subscriber-failure-actions.ts'
import { admitMails } from '../limits/mail-actions.ts'
import { paceRequests } from '../limits/pace-actions.ts'
import { postponeDeliveries } from '../limits/pace-store.ts'
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

/** `sendableAt`: since when it could have been sent; null: it is not a first attempt, or its receiver kept it waiting. */
export type ClaimedDelivery = PreparedDelivery & { sendableAt: Date | null }

type ClaimResult = {
  /** to be sent now */
  prepared: ClaimedDelivery[]
  /** more lanes may be due now */
  isMore: boolean
  /** for projects with many channels: where the next claim continues */
  cursors: Map<string, string>
  /** how many mails were skipped: no address was confirmed, or a limit was reached */
  withheldMails: number
  /** how many mails are sent without being counted, by address */
  uncountedMails: number
  /** how many deliveries wait, because SECRET_KEY does not decrypt their channels */
  undecrypted: number
  /** due times of these, and of the requests that wait for others of their event */
  dueAt: Date[]
}

/**
 * Claims deliveries for `owner`, in the caller's transaction:
 * 1. Lease due lanes.
 * 2. Render and sign the oldest delivery of each. One that cannot be rendered is logged as failed, one whose channel is not
 *    decrypted is deferred.
 * 3. Skip mails without a confirmed address or beyond a daily limit, and notices that a subscriber no longer follows.
 * 4. Defer requests beyond the pace of their event.
 * 5. Store the rendered requests, before any of them is sent.
 * 6. Hand over to the built-in relay what belongs there.
 * 7. Release the lanes that have nothing to send.
 */
export async function claimDeliveries(
  tx: Tx,
  claiming: ClaimRequest,
  tools: PrepareTools & { db: Db },
  now: Date,
): Promise<ClaimResult> {
  const { lanes, cursors } = await claimLanes(tx, claiming, now)
  if (lanes.length === 0)
    return { prepared: [], isMore: false, cursors, withheldMails: 0, uncountedMails: 0, undecrypted: 0, dueAt: [] }
  const heads = await loadLaneHeads(tx, lanes)
  const sendableAt = new Map(heads.map(head => [head.id, head.sendableAt]))
  const {
    prepared: ready,
    unrenderable,
    unwanted,
    undecrypted,
  } = await prepareAll(heads, tools, now, createYieldPoint())
  const waits = undecrypted.map(({ id, retryAt }) => ({ id, at: retryAt }))
  if (waits.length > 0) await postponeDeliveries(tx, waits, now)
  // without a mail server sending fails with that reason
  const {
    sent: confirmed,
    held,
    uncounted,
  } = tools.mailer ? await admitMails(tx, ready, tools, now) : { sent: ready, held: [], uncounted: 0 }
  const { admitted: prepared, dueAt } = await paceRequests(tx, confirmed, tools, now)
  await storeRendered(tx, prepared, now)
  await recordAttempts(
    tx,
    [
      ...unrenderable.map(one => ({ ...one, status: 'failed', retryAt: null })),
      ...[...held, ...unwanted].map(one => ({ ...one, status: 'skipped', retryAt: null })),
    ],
    now,
  )
  const sent = prepared.filter(one => one.relayOrigin === null)
  const handedOver = prepared.flatMap(one =>
    one.relayOrigin === null ? [] : [{ ...one, relayOrigin: one.relayOrigin }],
  )
  await handOver(tx, handedOver, now)
  if (sent.length < lanes.length) await releaseIdleLanes(tx, lanes, sent, now)
  return {
    prepared: sent.map(one => ({ ...one, sendableAt: sendableAt.get(one.id) ?? null })),
    isMore: true,
    cursors,
    withheldMails: held.length,
    uncountedMails: uncounted,
    undecrypted: waits.length,
    dueAt: [...dueAt, ...waits.map(({ at }) => at)],
  }
}

/**
 * Releases claimed lanes without anything to send: the lane is empty, its channel was paused, its oldest delivery could
 * not be rendered, was skipped or deferred, or went to the relay.
 */
async function releaseIdleLanes(tx: Tx, lanes: Lane[], prepared: PreparedDelivery[], now: Date): Promise<void> {
  const sending = new Set(prepared.map(one => `${one.channelId} ${one.subject}`))
  const idle = lanes.filter(lane => !sending.has(`${lane.channelId} ${lane.subject}`))
  await skipPausedLanes(tx, idle, now)
  await releaseLanes(tx, idle, now)
}

/** `outcome` null: it was not sent, and its lane is released unchanged. */
export type FinishedAttempt = { prepared: PreparedDelivery; outcome: DeliveryOutcome | null }

/**
 * Records the results of requests, in the caller's transaction:
 * 1. Lock the channels, then the lanes that `owner` still holds. The outcome of a lane whose lease was lost is dropped:
 *    another process sends the delivery.
 * 2. Add each attempt to the log, with the next status and the time of the retry.
 * 3. Count ended deliveries against their channels and subscribers, and pause those that only fail.
 * 4. Apply what a chat's provider reported about its app.
 * 5. Release the lanes.
 * Returns the new statuses and the due times of retries.
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
  const subscriberResults = ended.flatMap(toSubscriberResults)
  const subscribers = await lockSubscribers(tx, subscriberResults)
  await recordAttempts(tx, recorded, now)
  await recordChannelResults(
    tx,
    ended.filter(one => one.subscriberId === null && isAttributable(one.message.via, one.outcome)),
    now,
  )
  await recordSubscriberResults(tx, subscribers, subscriberResults, now)
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
  const logged = toLoggedAttempt(outcome)
  const postponedTo = postponeAttempt(prepared, outcome, now)
  if (postponedTo !== null)
    return { id: prepared.id, attempt: logged, status: 'pending', retryAt: postponedTo, isUncounted: true }
  const next = decideRetry(prepared.attemptsMade + 1, outcome, now)
  if (typeof next === 'string') return { id: prepared.id, attempt: logged, status: next, retryAt: null }
  return { id: prepared.id, attempt: logged, status: 'pending', retryAt: next.retryAt }
}
