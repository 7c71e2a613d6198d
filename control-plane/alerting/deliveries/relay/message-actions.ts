import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { recordChannelResults } from '../attempts/channel-failure-actions.ts'
import { isAttributable } from '../attempts/failure-count.ts'
import { buildUnsentAttempt, toLoggedAttempt } from '../log/log-entry.ts'
import { type AttemptRecord, lockChannels, recordAttempts, storeRendered } from '../queue/lane-store.ts'
import { type PreparedDelivery, type PrepareTools, prepareAll } from '../rendering/prepare.ts'
import type { DeliveryOutcome } from '../types.ts'
import { type CircuitBreaker, updateCircuit } from './circuit-breaker.ts'
import { lockCircuits, storeCircuits } from './destination-store.ts'
import {
  claimMessages,
  loadRelayMessages,
  lockChannelsOfExpired,
  lockIdleMessages,
  lockMessages,
  postponeMessages,
  type RelayClaim,
  type RelayMessage,
  removeMessages,
  returnToLanes,
  skipMessages,
  skipPausedMessages,
} from './message-store.ts'
import { decideRelayRetry } from './retry-policy.ts'

export type PreparedRelayMessage = PreparedDelivery & { head: RelayMessage }

/** `outcome` null: the message no longer belongs to the relay, and returns to its lane. `chance` from 0 to 1 is for the jitter. */
export type RelayAttempt = { message: PreparedRelayMessage; outcome: DeliveryOutcome | null; chance: number }

/**
 * Claims messages of the relay for `owner`, renders the address and signs them with the current config of their channels.
 * Messages of paused channels are skipped, those that cannot be rendered become `dead`, and those that the keys of this
 * process do not decrypt are deferred, which is not a failure of their receivers.
 */
export async function claimRelayMessages(
  tx: Tx,
  claiming: RelayClaim,
  tools: PrepareTools,
  now: Date,
): Promise<{ messages: PreparedRelayMessage[]; isMore: boolean }> {
  const ids = await claimMessages(tx, claiming, now)
  if (ids.length === 0) return { messages: [], isMore: false }
  const heads = await loadRelayMessages(tx, ids)
  const loaded = new Set(heads.map(({ id }) => id))
  await skipMessages(
    tx,
    ids.filter(id => !loaded.has(id)),
    now,
  )
  const { prepared, unrenderable, undecrypted } = await prepareAll(heads, tools, now, createYieldPoint())
  await postponeMessages(tx, undecrypted, false)
  await storeRendered(tx, prepared, now)
  await recordAttempts(
    tx,
    unrenderable.map(one => ({ ...one, status: 'dead', retryAt: null })),
    now,
  )
  await removeMessages(
    tx,
    unrenderable.map(one => one.id),
  )
  return { messages: prepared, isMore: true }
}

/** True when the channel still uses the relay and has the origin that it had when the message was handed over. */
export const hasSameDestination = ({ relayOrigin, head }: PreparedRelayMessage) => relayOrigin === head.origin

/**
 * Records the outcomes of attempts, in the caller's transaction:
 * 1. Lock channels, circuits, and the messages that `owner` still holds. The outcome of a message whose lease was lost is
 *    dropped: another process sends the message.
 * 2. Update the circuits.
 * 3. Add the attempts to the log; defer messages that are retried and delete those that ended.
 * 4. Return messages that no longer belong to the relay to their lanes.
 * 5. Count ended deliveries against their channels, and skip messages of paused channels.
 * Returns the new statuses and the times at which messages or trials are due.
 */
export async function finishRelayAttempts(
  tx: Tx,
  owner: string,
  attempted: RelayAttempt[],
  now: Date,
): Promise<{ statuses: string[]; dueAt: Date[] }> {
  const messages = attempted.map(one => one.message)
  await lockChannels(tx, messages)
  const circuits = await lockCircuits(
    tx,
    messages.map(({ head }) => head.destinationId),
  )
  const held = await lockMessages(
    tx,
    owner,
    messages.map(({ id }) => id),
  )
  const kept = attempted.filter(({ message }) => held.has(message.id))
  const sent = kept.flatMap(one => (one.outcome === null ? [] : [{ ...one, outcome: one.outcome }]))
  for (const { message, outcome } of sent) {
    const { destinationId } = message.head
    circuits.set(destinationId, updateCircuit(circuits.get(destinationId)!, outcome, now))
  }
  const recorded = sent.map(one => toAttemptRecord(one, now))
  await storeCircuits(tx, circuits, now)
  await storeAttemptRecords(tx, recorded, now)
  await returnToLanes(
    tx,
    kept.filter(one => one.outcome === null).map(one => one.message.id),
    now,
  )
  const ended = sent.flatMap(({ message: { channelId }, outcome }, i) => {
    const status = recorded[i]?.status
    const isCounted = status !== 'pending' && isAttributable('http', outcome)
    return isCounted ? [{ channelId, succeeded: status === 'delivered' }] : []
  })
  await recordChannelResults(tx, ended, now)
  const channels = sent.map(({ message }) => message.channelId)
  await skipPausedMessages(tx, channels, now)
  return { statuses: recorded.map(one => one.status), dueAt: listDueTimes(recorded, circuits) }
}

function toAttemptRecord(
  { message, outcome, chance }: RelayAttempt & { outcome: DeliveryOutcome },
  now: Date,
): AttemptRecord {
  const next = decideRelayRetry(message.head, outcome, chance, now)
  const attempt = toLoggedAttempt(outcome)
  if (typeof next === 'string') return { id: message.id, attempt, status: next, retryAt: null }
  const isUncounted = outcome.ownFault !== undefined
  return { id: message.id, attempt, status: 'pending', retryAt: next.retryAt, isUncounted }
}

async function storeAttemptRecords(tx: Tx, recorded: AttemptRecord[], now: Date): Promise<void> {
  await recordAttempts(tx, recorded, now)
  for (const isFailure of [true, false]) {
    const some = recorded.filter(one => isFailure !== (one.isUncounted === true))
    await postponeMessages(
      tx,
      some.flatMap(({ id, retryAt }) => (retryAt === null ? [] : [{ id, retryAt }])),
      isFailure,
    )
  }
  await removeMessages(
    tx,
    recorded.filter(one => one.retryAt === null).map(one => one.id),
  )
}

const listDueTimes = (recorded: AttemptRecord[], circuits: Map<string, CircuitBreaker>) => [
  ...recorded.flatMap(one => one.retryAt ?? []),
  ...[...circuits.values()].flatMap(circuit => circuit.nextTrialAt ?? []),
]

/** How many messages one call of `expireUndeliverable` ends. */
const MAX_EXPIRED_PER_CALL = 500

/** Ends messages that reached the age limit while their circuit was open. Returns how many. */
export async function expireUndeliverable(tx: Tx, now: Date): Promise<number> {
  const old = await lockChannelsOfExpired(tx, MAX_EXPIRED_PER_CALL, now)
  const idle = await lockIdleMessages(
    tx,
    old.map(({ id }) => id),
    now,
  )
  const expired = old.filter(({ id }) => idle.has(id))
  const attempt = buildUnsentAttempt('the relay gave up after 24 hours', now)
  await recordAttempts(
    tx,
    expired.map(({ id }) => ({ id, attempt, status: 'dead', retryAt: null })),
    now,
  )
  await removeMessages(
    tx,
    expired.map(({ id }) => id),
  )
  await recordChannelResults(
    tx,
    expired.map(({ channelId }) => ({ channelId, succeeded: false })),
    now,
  )
  return expired.length
}
