import { setMaxListeners } from 'node:events'
import { createWorkPool, type WorkPool } from '../../../foundation/platform/concurrency/work-pool.ts'
import { newId, randomFraction } from '../../../foundation/platform/ids.ts'
import { setLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import {
  createSetAheadDetector,
  monotonicMs,
  now,
  nowMs,
  sleep,
  TIMER_SLACK_MS,
} from '../../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, startLoop } from '../../../foundation/platform/time/loop.ts'
import { sendMessage } from '../attempts/send-actions.ts'
import type { SendContext } from '../context.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import { isProjectError, LOCK_TIMEOUT_MS, writeByProject } from '../project-write-actions.ts'
import { createTakeoverGuard } from '../queue/takeover.ts'
import {
  claimRelayMessages,
  expireUndeliverable,
  finishRelayAttempts,
  hasSameDestination,
  type PreparedRelayMessage,
  type RelayAttempt,
} from './message-actions.ts'
import { findDueWork } from './message-store.ts'

/** Applies after an internal error. Otherwise the loop is woken. */
const RETRY_INTERVAL_MS = 10_000

/** Applies when another transaction holds rows that are needed, for example while a tenant deletes a channel. */
const UNWRITTEN_DELAY_MS = 1_000

/** Messages that are due within this time share one timer, because thousands of them may wait for hours. */
const TICK_INTERVAL_MS = 200

/** How many requests one process has in flight. */
const MAX_CONCURRENCY = 512

type RelayState = {
  context: SendContext
  /** of the leases */
  owner: string
  metrics: DeliveryMetrics
  requests: WorkPool
  /** aborted when the worker stops; every timer listens to it */
  stopping: AbortSignal
  /** the timers that are set: their times, in intervals of TICK_INTERVAL_MS */
  ticks: Set<number>
  /** to be written */
  attempted: RelayAttempt[]
  mayTakeOver: () => boolean
  /** whether the next round has something to do */
  isWoken: boolean
  wakeLoop(): void
}

/**
 * Sends the messages of the built-in relay (docs/design/deliveries.md#relay). It wakes by itself when one of its own
 * messages is due again; the delivery worker finds the messages of other processes and wakes it.
 */
export function startRelayWorker(context: SendContext, metrics: DeliveryMetrics): Loop {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const state: RelayState = {
    context,
    owner: newId(),
    metrics,
    requests: createWorkPool({ maxConcurrent: MAX_CONCURRENCY, onFree: () => wake(state) }),
    stopping: stopping.signal,
    ticks: new Set(),
    mayTakeOver: createTakeoverGuard(context.timing.leaseMs, { isSetAhead: createSetAheadDetector(), monotonicMs }),
    attempted: [],
    isWoken: true,
    wakeLoop: () => loop.wake(),
  }
  const loop = startLoop('relay', RETRY_INTERVAL_MS, context, signal => runRound(state, signal), CRITICAL)
  return {
    wake: () => wake(state),
    async stop() {
      stopping.abort()
      await loop.stop()
      await state.requests.waitUntilIdle()
      const error = await writeAttempted(state)
      if (error !== null) throw error
    },
  }
}

/**
 * Writes the results of earlier requests, then claims messages that are due. It does nothing unless it was woken. Locked rows
 * end no round, so that they delay the messages of their project only. After another error nothing is claimed, because
 * a message whose result cannot be stored would be sent again and again.
 */
async function runRound(state: RelayState, signal: AbortSignal): Promise<void> {
  const { db } = state.context
  if (!state.isWoken) return
  state.isWoken = false
  try {
    skipUnwritten(state, await writeAttempted(state))
    if (signal.aborted) return
    const due = await findDueWork(db, now())
    if (due.oldMessages) await expire(state)
    if (due.messages) await claim(state)
  } catch (error) {
    state.isWoken = true
    throw error
  }
}

/** Results that could not be written are kept for the next round. Returns the reason, or null when all were written. */
async function writeAttempted(state: RelayState): Promise<unknown> {
  const { context, owner, metrics, attempted: writing } = state
  state.attempted = []
  if (writing.length === 0) return null
  const { written, unwritten, error } = await writeByProject(
    context.db,
    writing,
    ({ message }) => message.projectId,
    (tx, some) => finishRelayAttempts(tx, owner, some, now()),
  )
  for (const status of written.flatMap(({ statuses }) => statuses)) metrics.relayed.inc({ status })
  for (const at of written.flatMap(({ dueAt }) => dueAt)) wakeAt(state, at)
  state.attempted = [...unwritten, ...state.attempted]
  return unwritten.length === 0 ? null : error
}

/** Plans another round after an error of the rows of some projects. Other errors end this one. */
function skipUnwritten(state: RelayState, error: unknown): void {
  if (error === null) return
  if (!isProjectError(error)) throw error
  state.context.log.warn({ err: error }, 'the relay could not write the messages of some projects; retrying')
  wakeAt(state, new Date(nowMs() + UNWRITTEN_DELAY_MS))
}

async function expire(state: RelayState): Promise<void> {
  try {
    const expired = await state.context.db.transaction(async tx => {
      await setLockTimeout(tx, LOCK_TIMEOUT_MS)
      return expireUndeliverable(tx, now())
    })
    if (expired > 0) wake(state)
  } catch (error) {
    skipUnwritten(state, error)
  }
}

async function claim(state: RelayState): Promise<void> {
  const { context, owner, requests } = state
  const limit = requests.free()
  if (limit === 0) return
  const claiming = { owner, leaseMs: context.timing.leaseMs, limit, capacity: MAX_CONCURRENCY }
  const { messages, isMore } = await context.db.transaction(tx =>
    claimRelayMessages(tx, { ...claiming, takesOver: state.mayTakeOver() }, context, now()),
  )
  for (const message of messages) requests.start(() => send(state, message))
  if (isMore) wake(state)
}

async function send(state: RelayState, message: PreparedRelayMessage): Promise<void> {
  const outcome = hasSameDestination(message) ? await sendMessage(message, now(), state.context) : null
  state.attempted.push({ message, outcome, chance: randomFraction() })
}

function wake(state: RelayState): void {
  state.isWoken = true
  state.wakeLoop()
}

function wakeAt(state: RelayState, at: Date): void {
  const tick = Math.floor(at.getTime() / TICK_INTERVAL_MS) + 1
  if (state.ticks.has(tick)) return
  state.ticks.add(tick)
  sleep(Math.max(0, tick * TICK_INTERVAL_MS + TIMER_SLACK_MS - nowMs()), state.stopping).then(() => {
    state.ticks.delete(tick)
    wake(state)
  })
}
