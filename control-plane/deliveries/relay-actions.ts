import type { Tx } from '../platform/postgres.ts'
import { afterAttempt, type Circuit } from './circuit.ts'
import { lockCircuits, storeCircuits } from './circuit-store.ts'
import { lockChannels, type Recorded, recordAttempts, storeRendered } from './lane-store.ts'
import { endedByUs, toLogged } from './log-entry.ts'
import { countEnded } from './pause-actions.ts'
import { type Prepared, type PrepareTools, prepareAll } from './prepare.ts'
import { relayAttempt } from './relay.ts'
import {
  claimMessages,
  lockIdleMessages,
  lockMessages,
  messageHeads,
  oldMessages,
  postponeMessages,
  type RelayHead,
  removeMessages,
  returnToLanes,
  skipMessages,
  skipPausedMessages,
} from './relay-store.ts'
import type { Outcome } from './types.ts'

export type Message = Prepared & { head: RelayHead }

/** `outcome` null: it is not the relay's any more, and goes back to its lane. */
export type Attempted = { message: Message; outcome: Outcome | null; chance: number }

/** Claims messages of the relay for `owner`, signed anew, as their channels are configured now. */
export async function claimRelayed(
  tx: Tx,
  claiming: { owner: string; limit: number },
  tools: PrepareTools,
  now: Date,
): Promise<{ messages: Message[]; isMore: boolean }> {
  const ids = await claimMessages(tx, claiming.owner, claiming.limit, now)
  if (ids.length === 0) return { messages: [], isMore: false }
  const heads = await messageHeads(tx, ids)
  const alive = new Set(heads.map(({ id }) => id))
  await skipMessages(
    tx,
    ids.filter(id => !alive.has(id)),
    now,
  )
  const { prepared, unfit } = prepareAll(heads, tools, now)
  await storeRendered(tx, prepared, now)
  await recordAttempts(
    tx,
    unfit.map(one => ({ ...one, status: 'dead', retryAt: null })),
    now,
  )
  await removeMessages(
    tx,
    unfit.map(one => one.id),
  )
  return { messages: prepared, isMore: true }
}

/** The channel still asks for the relay, and still leads where it led when the message was handed over. */
export const isAtHome = ({ relayOrigin, head }: Message) => relayOrigin === head.origin

/**
 * Writes down what attempts came to: the log, the circuits, the channels' counts. A message whose lease was lost is
 * somebody else's now. Answers when something falls due.
 */
export async function finishRelayed(
  tx: Tx,
  owner: string,
  attempted: Attempted[],
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
    circuits.set(destinationId, afterAttempt(circuits.get(destinationId)!, outcome, now))
  }
  const recorded = sent.map(one => toRecorded(one, now))
  await storeCircuits(tx, circuits, now)
  await store(tx, recorded, now)
  await returnToLanes(
    tx,
    kept.filter(one => one.outcome === null).map(one => one.message.id),
    now,
  )
  const ended = sent.flatMap(({ message: { channelId } }, i) => {
    const status = recorded[i]?.status
    return status === 'pending' ? [] : [{ channelId, succeeded: status === 'delivered' }]
  })
  await countEnded(tx, ended, now)
  const channels = sent.map(({ message }) => message.channelId)
  await skipPausedMessages(tx, channels, now)
  return { statuses: recorded.map(one => one.status), dueAt: dueTimes(recorded, circuits) }
}

function toRecorded({ message, outcome, chance }: Attempted & { outcome: Outcome }, now: Date): Recorded {
  const next = relayAttempt(message.head, outcome, chance, now)
  const attempt = toLogged(outcome)
  if (typeof next === 'string') return { id: message.id, attempt, status: next, retryAt: null }
  return { id: message.id, attempt, status: 'pending', retryAt: next.retryAt }
}

async function store(tx: Tx, recorded: Recorded[], now: Date): Promise<void> {
  await recordAttempts(tx, recorded, now)
  await postponeMessages(
    tx,
    recorded.flatMap(({ id, retryAt }) => (retryAt === null ? [] : [{ id, retryAt }])),
  )
  await removeMessages(
    tx,
    recorded.filter(one => one.retryAt === null).map(one => one.id),
  )
}

const dueTimes = (recorded: Recorded[], circuits: Map<string, Circuit>) => [
  ...recorded.flatMap(one => one.retryAt ?? []),
  ...[...circuits.values()].flatMap(circuit => circuit.nextTrialAt ?? []),
]

/** What one call of `buryOld` ends at most. */
const BURIED_AT_ONCE = 500

/** Ends messages that had their day while their circuit was open. Answers how many. */
export async function buryOld(tx: Tx, now: Date): Promise<number> {
  const old = await oldMessages(tx, BURIED_AT_ONCE, now)
  await lockChannels(tx, old)
  const idle = await lockIdleMessages(
    tx,
    old.map(({ id }) => id),
    now,
  )
  const buried = old.filter(({ id }) => idle.has(id))
  const attempt = endedByUs('the relay gave up after a day', now)
  await recordAttempts(
    tx,
    buried.map(({ id }) => ({ id, attempt, status: 'dead', retryAt: null })),
    now,
  )
  await removeMessages(
    tx,
    buried.map(({ id }) => id),
  )
  await countEnded(
    tx,
    buried.map(({ channelId }) => ({ channelId, succeeded: false })),
    now,
  )
  return buried.length
}
