import { setMaxListeners } from 'node:events'
import { newId, randomFraction } from '../../../foundation/platform/ids.ts'
import { now, nowMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, startLoop } from '../../../foundation/platform/time/loop.ts'
import { sendMessage } from '../attempts/send-actions.ts'
import type { SendContext } from '../context.ts'
import type { DeliveryMetrics } from '../metrics.ts'
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

/** Messages that are due within this time share one timer, because thousands of them may wait for hours. */
const TICK_INTERVAL_MS = 200
/** A timer may fire slightly early. */
const TIMER_SLACK_MS = 5

/** How many requests one process has in flight. */
const MAX_CONCURRENCY = 512

/**
 * Sends the messages of the built-in relay (docs/design/deliveries.md#relay). It wakes by itself when one of its own
 * messages is due again; the delivery worker finds the messages of other processes and wakes it.
 */
export function startRelayWorker(context: SendContext, meters: DeliveryMetrics): Loop {
  const owner = newId()
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  // every timer listens to it
  setMaxListeners(0, stopping.signal)
  const ticks = new Set<number>()
  let attempted: RelayAttempt[] = []
  let isWoken = true

  const send = async (message: PreparedRelayMessage) => {
    const outcome = hasSameDestination(message) ? await sendMessage(message, now(), context) : null
    attempted.push({ message, outcome, chance: randomFraction() })
    wake()
  }

  const write = async () => {
    const writing = attempted
    attempted = []
    if (writing.length === 0) return
    try {
      const { statuses, dueAt } = await context.db.transaction(tx => finishRelayAttempts(tx, owner, writing, now()))
      for (const status of statuses) meters.relayed.inc({ status })
      for (const at of dueAt) wakeAt(at)
    } catch (error) {
      attempted = [...writing, ...attempted]
      throw error
    }
  }

  const claim = async () => {
    const limit = MAX_CONCURRENCY - inFlight.size
    if (limit === 0) return
    const claiming = { owner, limit }
    const { messages, isMore } = await context.db.transaction(tx => claimRelayMessages(tx, claiming, context, now()))
    for (const message of messages) track(send(message))
    if (isMore) wake()
  }

  const round = async (signal: AbortSignal) => {
    if (!isWoken) return
    isWoken = false
    try {
      await write()
      if (signal.aborted) return
      const due = await findDueWork(context.db, now())
      if (due.oldMessages && (await context.db.transaction(tx => expireUndeliverable(tx, now()))) > 0) wake()
      if (due.messages) await claim()
    } catch (error) {
      isWoken = true
      throw error
    }
  }

  const track = (sending: Promise<void>) => {
    inFlight.add(sending)
    sending.finally(() => inFlight.delete(sending))
  }

  const wake = () => {
    isWoken = true
    loop.wake()
  }

  const wakeAt = (at: Date) => {
    const tick = Math.floor(at.getTime() / TICK_INTERVAL_MS) + 1
    if (ticks.has(tick)) return
    ticks.add(tick)
    sleep(Math.max(0, tick * TICK_INTERVAL_MS + TIMER_SLACK_MS - nowMs()), stopping.signal).then(() => {
      ticks.delete(tick)
      wake()
    })
  }

  const loop = startLoop('relay', RETRY_INTERVAL_MS, context, round, CRITICAL)
  return {
    wake,
    async stop() {
      stopping.abort()
      await loop.stop()
      await Promise.allSettled(inFlight)
      await write()
    },
  }
}
