import { setMaxListeners } from 'node:events'
import { now, nowMs, sleep } from '../platform/clock.ts'
import { chance, newId } from '../platform/ids.ts'
import { CRITICAL, type Loop, startLoop } from '../platform/loop.ts'
import type { DeliveryMeters } from './meters.ts'
import { type Attempted, buryOld, claimRelayed, finishRelayed, isAtHome, type Message } from './relay-actions.ts'
import { findDue } from './relay-store.ts'
import { sendMessage } from './send-actions.ts'
import type { SendContext } from './worker.ts'

/** After a fault of ours; else the loop is woken. */
const AGAIN_MS = 10_000

/** One timer for all that falls due within so long: thousands of messages may wait for hours. */
const TICK_MS = 200
/** A timer may be a moment early. */
const AFTER_MS = 5

/** What one process has on the way at once. */
const CONCURRENCY = 512

/**
 * Brings what was handed over to the built-in relay (decisions 6.6). It wakes by itself when one of its own messages is due
 * again; what another process had is found by the process that looks after the queue.
 */
export function startRelayWorker(context: SendContext, meters: DeliveryMeters): Loop {
  const owner = newId()
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  // each time at which something is due waits with it
  setMaxListeners(0, stopping.signal)
  const ticks = new Set<number>()
  let attempted: Attempted[] = []
  let isWoken = true

  const send = async (message: Message) => {
    const outcome = isAtHome(message) ? await sendMessage(message, now(), context) : null
    attempted.push({ message, outcome, chance: chance() })
    wake()
  }

  const write = async () => {
    const writing = attempted
    attempted = []
    if (writing.length === 0) return
    try {
      const { statuses, dueAt } = await context.db.transaction(tx => finishRelayed(tx, owner, writing, now()))
      for (const status of statuses) meters.relayed.inc({ status })
      for (const at of dueAt) wakeAt(at)
    } catch (error) {
      attempted = [...writing, ...attempted]
      throw error
    }
  }

  const claim = async () => {
    const limit = CONCURRENCY - inFlight.size
    if (limit === 0) return
    const claiming = { owner, limit }
    const { messages, isMore } = await context.db.transaction(tx => claimRelayed(tx, claiming, context, now()))
    for (const message of messages) track(send(message))
    if (isMore) wake()
  }

  const round = async (signal: AbortSignal) => {
    if (!isWoken) return
    isWoken = false
    try {
      await write()
      if (signal.aborted) return
      const due = await findDue(context.db, now())
      if (due.oldMessages && (await context.db.transaction(tx => buryOld(tx, now()))) > 0) wake()
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
    const tick = Math.floor(at.getTime() / TICK_MS) + 1
    if (ticks.has(tick)) return
    ticks.add(tick)
    sleep(Math.max(0, tick * TICK_MS + AFTER_MS - nowMs()), stopping.signal).then(() => {
      ticks.delete(tick)
      wake()
    })
  }

  const loop = startLoop('relay', AGAIN_MS, context, round, CRITICAL)
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
