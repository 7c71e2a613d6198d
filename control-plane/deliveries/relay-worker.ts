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

/** What one process has on the way at once. */
const CONCURRENCY = 512

/**
 * Brings what was handed over to the built-in relay (decisions 6.6). It asks for nothing by itself: whoever looks after the
 * queue wakes it.
 */
export function startRelayWorker(context: SendContext, meters: DeliveryMeters): Loop {
  const owner = newId()
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
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

  // what is due later is found by who looks after the queue
  const wakeAt = (at: Date) => {
    const waitMs = at.getTime() - nowMs()
    if (waitMs <= AGAIN_MS) sleep(Math.max(0, waitMs), stopping.signal).then(wake)
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
