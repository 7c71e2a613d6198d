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

/** An idle queue costs one query every ten seconds; NOTIFY, an answer or a retry that falls due wakes it before. */
const IDLE_INTERVAL_MS = 10_000

/** What is finished is written at once; this is for when PostgreSQL was away. */
const WRITE_RETRY_INTERVAL_MS = 1_000

/** Between two looks at a project's channels none of which could be sent to. */
const NEXT_CHANNELS_DELAY_MS = 50

export type DeliveryWorker = Loop & {
  /** The same on NOTIFY "relay". */
  wakeRelay(): void
}

/**
 * Sends what is queued. Two loops share the work, so that neither waits for the other: one claims what may be sent now,
 * one writes down what requests came to. Requests run between them. `wake` it on NOTIFY "deliveries".
 */
export function startDeliveryWorker(given: DeliveryContext): DeliveryWorker {
  const owner = newId()
  const connections = createConnections(MAX_CHANNEL_CONCURRENCY)
  const context = { ...given, connections, secrets: cacheDecrypted(given.secrets) }
  const meters = createDeliveryMetrics(context.metrics)
  const relay = startRelayWorker(context, meters)
  const turns = createChannelLimiter<PreparedDelivery>()
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  // each retry that is not far waits with it
  setMaxListeners(0, stopping.signal)
  let finished: FinishedAttempt[] = []
  /** where claiming goes on, of projects with many channels */
  let cursors: ReadonlyMap<string, string> = new Map()
  let isWoken = true
  let lookedAtMs = 0
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
    const isSure = isWoken
    isWoken = false
    // a queue that is never idle must not hide the relay
    const isLate = nowMs() - lookedAtMs >= IDLE_INTERVAL_MS
    if ((!isSure || isLate) && !(await look()) && !isSure) return
    const claiming = { owner, limit, quickChannels: turns.fastChannels(), held: turns.sizeByProject(), cursors }
    const claimed = await context.db.transaction(tx => claimDeliveries(tx, claiming, context, now()))
    const { prepared, isMore } = claimed
    cursors = claimed.cursors
    meters.keptBack.inc(claimed.withheldMails)
    meters.uncounted.inc(claimed.uncountedMails)
    for (const dueAt of claimed.dueAt) wakeAt(dueAt)
    for (const one of prepared) if (turns.admit(one)) track(send(one))
    if (isMore) wake()
    // these channels had no room; the next ones of the project may have
    else if (cursors.size > 0) wakeAt(new Date(nowMs() + NEXT_CHANNELS_DELAY_MS))
  }

  /** The first round looks too: the clock may have been set back while no process ran. */
  const replan = async () => {
    let lanes = 0
    for (;;) {
      const changed = await context.db.transaction(tx => rescheduleAfterClockStep(tx, now()))
      if (changed === 0) break
      lanes += changed
    }
    if (lanes > 0) context.log.warn({ lanes }, 'the clock was set back: deliveries that it had put off are due again')
  }

  /** True when there is something to claim. What an idle queue costs. */
  const look = async () => {
    lookedAtMs = nowMs()
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

/** Claimed and given back: its lane is free again. */
const toUnsentAttempt = (prepared: PreparedDelivery): FinishedAttempt => ({ prepared, outcome: null })
