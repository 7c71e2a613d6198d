import type { Log } from '../../shared/log.ts'
import { now, nowMs, sleep } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { type Loop, startLoop } from '../platform/loop.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Db } from '../platform/postgres.ts'
import { claimDeliveries, type Finished, finishDeliveries } from './actions.ts'
import { PROCESS_CONCURRENCY } from './lanes.ts'
import { deliveryMeters } from './meters.ts'
import type { Prepared, PrepareTools } from './prepare.ts'
import { type Carriers, sendMessage } from './send-actions.ts'

export type DeliveryContext = PrepareTools & Carriers & { db: Db; log: Log; metrics: Metrics }

/** An idle queue costs one query every ten seconds; NOTIFY, an answer or a retry that falls due wakes it before. */
const IDLE_MS = 10_000

export type DeliveryWorker = Loop

/**
 * Sends what is queued. A round is one transaction: it writes down what the requests since the last round came to and
 * claims what may be sent now. Requests run between the rounds. `wake` it on NOTIFY "deliveries".
 */
export function startDeliveryWorker(context: DeliveryContext): DeliveryWorker {
  const owner = newId()
  const meters = deliveryMeters(context.metrics)
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  let finished: Finished[] = []

  const send = async (prepared: Prepared) => {
    const startedAt = now()
    const outcome = await sendMessage(prepared, startedAt, context)
    if (prepared.attemptsMade === 0)
      meters.firstAttempt.observe((startedAt.getTime() - prepared.createdAt.getTime()) / 1000)
    finished.push({ prepared, outcome })
    loop.wake()
  }

  const round = async (signal: AbortSignal) => {
    const writing = finished
    finished = []
    const room = signal.aborted ? 0 : PROCESS_CONCURRENCY - inFlight.size
    try {
      const result = await context.db.transaction(async tx => {
        const ended = await finishDeliveries(tx, owner, writing, now())
        const claimed = room > 0 ? await claimDeliveries(tx, owner, room, context, now()) : []
        return { ...ended, claimed }
      })
      for (const status of result.statuses) meters.deliveries.inc({ status })
      for (const prepared of result.claimed) track(send(prepared))
      for (const retryAt of result.retries) wakeAt(retryAt)
      if (result.claimed.length > 0) loop.wake()
    } catch (error) {
      finished = [...writing, ...finished]
      throw error
    }
  }

  const track = (sending: Promise<void>) => {
    inFlight.add(sending)
    meters.inFlight.set(inFlight.size)
    sending.finally(() => {
      inFlight.delete(sending)
      meters.inFlight.set(inFlight.size)
    })
  }

  const wakeAt = (at: Date) => {
    sleep(Math.max(0, at.getTime() - nowMs()), stopping.signal).then(loop.wake)
  }

  const loop = startLoop('deliver', IDLE_MS, context, round)
  return {
    wake: loop.wake,
    async stop() {
      stopping.abort()
      await loop.stop()
      await Promise.allSettled(inFlight)
      if (finished.length > 0) await context.db.transaction(tx => finishDeliveries(tx, owner, finished, now()))
    },
  }
}
