import { setMaxListeners } from 'node:events'
import { createConnections } from '../../../shared/egress/index.ts'
import { cacheDecrypted } from '../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { createSetBackDetector, now, nowMs, sleep } from '../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, startLoop } from '../../foundation/platform/time/loop.ts'
import { sendMessage } from './attempts/send-actions.ts'
import type { DeliveryContext } from './context.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { createChannelLimiter } from './queue/channel-limiter.ts'
import { rescheduleAfterClockStep } from './queue/clock-step-store.ts'
import { finishByProject } from './queue/finish-actions.ts'
import { claimDeliveries, type FinishedAttempt } from './queue/lane-actions.ts'
import { MAX_CHANNEL_CONCURRENCY, MAX_CLAIMED_LANES, MAX_PROCESS_CONCURRENCY } from './queue/lanes.ts'
import { findDueWork } from './relay/message-store.ts'
import { startRelayWorker } from './relay/worker.ts'
import type { PreparedDelivery } from './rendering/prepare.ts'

/** An idle queue costs one query every ten seconds. NOTIFY, a response or a due retry wakes it earlier. */
const IDLE_INTERVAL_MS = 10_000

/** Finished attempts are written immediately. This interval applies after PostgreSQL was unavailable. */
const WRITE_RETRY_INTERVAL_MS = 1_000

/** The wait before the next channels of a project are claimed, when the previous ones had no free place. */
const NEXT_CHANNELS_DELAY_MS = 50

export type DeliveryWorker = Loop & {
  /** Call it on NOTIFY "relay". */
  wakeRelay(): void
}

/**
 * Sends queued deliveries. One loop claims what may be sent now, a second loop records the results, so that neither waits
 * for the other. Requests run between them. Call `wake` on NOTIFY "deliveries".
 */
export function startDeliveryWorker(dependencies: DeliveryContext): DeliveryWorker {
  const owner = newId()
  const connections = createConnections(MAX_CHANNEL_CONCURRENCY)
  const context = { ...dependencies, connections, secrets: cacheDecrypted(dependencies.secrets) }
  const meters = createDeliveryMetrics(context.metrics)
  const relay = startRelayWorker(context, meters)
  const turns = createChannelLimiter<PreparedDelivery>()
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  // every timer for a near retry listens to it
  setMaxListeners(0, stopping.signal)
  let finished: FinishedAttempt[] = []
  /** for projects with many channels: where the next claim continues */
  let cursors: ReadonlyMap<string, string> = new Map()
  let isWoken = true
  let checkedAtMs = 0
  const hasBeenSetBack = createSetBackDetector()
  let isReplanDue = false

  const send = async (prepared: PreparedDelivery) => {
    const startedAt = now()
    const outcome = await sendMessage(prepared, startedAt, context)
    if (prepared.attemptsMade === 0)
      meters.firstAttempt.observe(Math.max(0, startedAt.getTime() - prepared.createdAt.getTime()) / 1000)
    const { next, back } = turns.release(prepared.channelId, outcome)
    for (const one of next) track(send(one))
    finished.push({ prepared, outcome }, ...back.map(toUnsentAttempt))
    writes.wake()
  }

  const claim = async (signal: AbortSignal) => {
    const limit = Math.min(MAX_CLAIMED_LANES, MAX_PROCESS_CONCURRENCY - turns.size())
    if (signal.aborted || limit <= 0) return
    isReplanDue ||= hasBeenSetBack()
    if (isReplanDue) await replan()
    isReplanDue = false
    const wasWoken = isWoken
    isWoken = false
    // a queue that is never idle must not keep the relay from being woken
    const isCheckDue = nowMs() - checkedAtMs >= IDLE_INTERVAL_MS
    if ((!wasWoken || isCheckDue) && !(await hasDueLanes()) && !wasWoken) return
    const claiming = { owner, limit, fastChannels: turns.fastChannels(), held: turns.sizeByProject(), cursors }
    const claimed = await context.db.transaction(tx => claimDeliveries(tx, claiming, context, now()))
    const { prepared, isMore } = claimed
    cursors = claimed.cursors
    meters.keptBack.inc(claimed.withheldMails)
    meters.uncounted.inc(claimed.uncountedMails)
    for (const dueAt of claimed.dueAt) wakeAt(dueAt)
    for (const one of prepared) if (turns.admit(one)) track(send(one))
    if (isMore) wake()
    // these channels had no free place; the next ones of the project may have
    else if (cursors.size > 0) wakeAt(new Date(nowMs() + NEXT_CHANNELS_DELAY_MS))
  }

  /** Also runs in the first round: the clock may have been set back while no process ran. */
  const replan = async () => {
    let lanes = 0
    for (;;) {
      const changed = await context.db.transaction(tx => rescheduleAfterClockStep(tx, now()))
      if (changed === 0) break
      lanes += changed
    }
    if (lanes > 0) context.log.warn({ lanes }, 'the clock was set back; deferred deliveries were rescheduled')
  }

  /** The only query of an idle queue. It also wakes the relay. */
  const hasDueLanes = async () => {
    checkedAtMs = nowMs()
    const due = await findDueWork(context.db, now())
    if (due.messages || due.oldMessages) relay.wake()
    return due.lanes
  }

  const write = async () => {
    const writing = finished
    finished = []
    if (writing.length === 0) return
    const { statuses, retries, unwritten: left, error } = await finishByProject(context.db, owner, writing, now())
    for (const status of statuses) meters.deliveries.inc({ status })
    for (const retryAt of retries) wakeAt(retryAt)
    if (left.length < writing.length) wake()
    if (left.length === 0) return
    finished = [...left, ...finished]
    throw error
  }

  const track = (sending: Promise<void>) => {
    inFlight.add(sending)
    meters.inFlight.set(inFlight.size)
    sending.finally(() => {
      inFlight.delete(sending)
      meters.inFlight.set(inFlight.size)
    })
  }

  const wake = () => {
    isWoken = true
    claims.wake()
  }

  const wakeAt = (at: Date) => {
    const waitMs = at.getTime() - nowMs()
    if (waitMs <= IDLE_INTERVAL_MS) sleep(Math.max(0, waitMs), stopping.signal).then(wake)
  }

  const claims = startLoop('deliver', IDLE_INTERVAL_MS, context, claim, CRITICAL)
  const writes = startLoop('deliver-write', WRITE_RETRY_INTERVAL_MS, context, write, CRITICAL)
  return {
    wake,
    wakeRelay: relay.wake,
    async stop() {
      stopping.abort()
      await claims.stop()
      await relay.stop()
      finished.push(...turns.drain().map(toUnsentAttempt))
      await Promise.allSettled(inFlight)
      await writes.stop()
      await write()
      connections.close()
    },
  }
}

/** For a delivery that was claimed but not sent: its lane is released. */
const toUnsentAttempt = (prepared: PreparedDelivery): FinishedAttempt => ({ prepared, outcome: null })
