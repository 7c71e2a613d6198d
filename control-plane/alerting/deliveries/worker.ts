import { setMaxListeners } from 'node:events'
import { createConnections } from '../../../shared/egress/index.ts'
import { createWorkPool, type WorkPool } from '../../foundation/platform/concurrency/work-pool.ts'
import { cacheDecrypted } from '../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { createOwnFaultDetector } from '../../foundation/platform/network/own-faults.ts'
import {
  createSetAheadDetector,
  monotonicMs,
  now,
  nowMs,
  sleep,
  TIMER_SLACK_MS,
} from '../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, startLoop } from '../../foundation/platform/time/loop.ts'
import { createOwnFaultReport } from './attempts/own-fault-actions.ts'
import { sendMessage } from './attempts/send-actions.ts'
import type { DeliveryContext, SendContext } from './context.ts'
import { createDeliveryMetrics, type DeliveryMetrics } from './metrics.ts'
import { type ChannelLimiter, createChannelLimiter } from './queue/channel-limiter.ts'
import { finishByProject } from './queue/finish-actions.ts'
import { type ClaimedDelivery, claimDeliveries, type FinishedAttempt } from './queue/lane-actions.ts'
import {
  DELIVERY_TIMING,
  MAX_CHANNEL_CONCURRENCY,
  MAX_CLAIMED_LANES,
  MAX_PROCESS_CONCURRENCY,
  MAX_PROCESS_MAILS,
} from './queue/lanes.ts'
import { createRescheduler } from './queue/reschedule-actions.ts'
import { createTakeoverGuard } from './queue/takeover.ts'
import { findDueWork } from './relay/message-store.ts'
import { startRelayWorker } from './relay/worker.ts'
import type { PreparedDelivery } from './rendering/prepare.ts'

/**
 * An idle queue costs one query every ten seconds, apart from a minute after a start or a clock step. NOTIFY, a response or a due
 * retry wakes it earlier.
 */
const IDLE_INTERVAL_MS = 10_000

/** Finished attempts are written immediately, and again a second after a round that failed. */
const WRITE_LIMITS = { ...CRITICAL, retryMs: 1_000 }
/** Without finished attempts there is nothing to write. */
const WRITE_INTERVAL_MS = 60_000

/** The wait before the next channels of a project are claimed, when the previous ones had no free place. */
const NEXT_CHANNELS_DELAY_MS = 50

export type DeliveryWorker = Loop & {
  /** Call it on NOTIFY "relay". */
  wakeRelay(): void
}

type DeliveryState = {
  context: SendContext
  /** of the leases */
  owner: string
  metrics: DeliveryMetrics
  relay: Loop
  channels: ChannelLimiter<ClaimedDelivery>
  requests: WorkPool
  /** aborted when the worker stops; every timer for a near retry listens to it */
  stopping: AbortSignal
  /** how many of the deliveries that the process holds are mails */
  mails: number
  /** results to be written, and deliveries that go back to their lanes unsent */
  finished: FinishedAttempt[]
  /** for projects with many channels: where the next claim continues */
  cursors: ReadonlyMap<string, string>
  /** whether the next round claims without looking for due work first */
  isWoken: boolean
  /** when due work was last looked for, by the monotonic clock */
  checkedMs: number
  reschedule: ReturnType<typeof createRescheduler>
  mayTakeOver: () => boolean
  wakeClaims(): void
  wakeWrites(): void
}

/**
 * Sends queued deliveries. One loop claims what may be sent now, a second loop records the results, so that neither waits
 * for the other. Requests run between them. Call `wake` on NOTIFY "deliveries".
 */
export function startDeliveryWorker(dependencies: DeliveryContext, timing = DELIVERY_TIMING): DeliveryWorker {
  const connections = createConnections(MAX_CHANNEL_CONCURRENCY)
  const metrics = createDeliveryMetrics(dependencies.metrics)
  const context = {
    ...{ ...dependencies, connections, timing, secrets: cacheDecrypted(dependencies.secrets) },
    ownFaults: createOwnFaultDetector(),
    reportOwnFault: createOwnFaultReport(dependencies.log, metrics),
  }
  const stopping = new AbortController()
  const state = createState(context, metrics, stopping.signal, {
    wakeClaims: () => claims.wake(),
    wakeWrites: () => writes.wake(),
  })
  const claims = startLoop('deliver', IDLE_INTERVAL_MS, context, signal => claim(state, signal), CRITICAL)
  const writes = startLoop('deliver-write', WRITE_INTERVAL_MS, context, () => writeFinished(state), WRITE_LIMITS)
  return {
    wake: () => wake(state),
    wakeRelay: state.relay.wake,
    async stop() {
      stopping.abort()
      await claims.stop()
      await state.relay.stop()
      state.finished.push(...state.channels.drain().map(toUnsentAttempt))
      await state.requests.waitUntilIdle()
      await writes.stop()
      await writeFinished(state)
      connections.close()
    },
  }
}

function createState(
  context: SendContext,
  metrics: DeliveryMetrics,
  stopping: AbortSignal,
  loops: Pick<DeliveryState, 'wakeClaims' | 'wakeWrites'>,
): DeliveryState {
  setMaxListeners(0, stopping)
  return {
    ...loops,
    context,
    owner: newId(),
    metrics,
    relay: startRelayWorker(context, metrics),
    channels: createChannelLimiter(),
    requests: createWorkPool({
      maxConcurrent: MAX_PROCESS_CONCURRENCY,
      onChange: running => metrics.inFlight.set(running),
    }),
    stopping,
    mails: 0,
    finished: [],
    cursors: new Map(),
    isWoken: true,
    checkedMs: Number.NEGATIVE_INFINITY,
    reschedule: createRescheduler(context),
    mayTakeOver: createTakeoverGuard(context.timing.leaseMs, { isSetAhead: createSetAheadDetector(), monotonicMs }),
  }
}

/** A round of the loop that claims: starts the requests of deliveries that may be sent now. */
async function claim(state: DeliveryState, signal: AbortSignal): Promise<void> {
  const { context, metrics, channels } = state
  const limit = Math.min(MAX_CLAIMED_LANES, state.requests.free(channels.waiting()))
  if (signal.aborted || limit <= 0) return
  const againMs = await state.reschedule(signal)
  if (againMs !== null) sleep(againMs + TIMER_SLACK_MS, state.stopping).then(state.wakeClaims)
  if (!(await shouldClaim(state))) return
  const held = channels.sizeByProject()
  const { owner, cursors } = state
  const { leaseMs } = context.timing
  const mailLimit = Math.max(0, MAX_PROCESS_MAILS - state.mails)
  const claiming = { owner, leaseMs, limit, mailLimit, fastChannels: channels.fastChannels(), held, cursors }
  const claimed = await context.db.transaction(tx =>
    claimDeliveries(tx, { ...claiming, takesOver: state.mayTakeOver() }, context, now()),
  )
  state.cursors = claimed.cursors
  metrics.keptBack.inc(claimed.withheldMails)
  metrics.uncounted.inc(claimed.uncountedMails)
  if (claimed.undecrypted > 0) reportUndecrypted(state, claimed.undecrypted)
  for (const dueAt of claimed.dueAt) wakeAt(state, dueAt)
  state.mails += claimed.prepared.filter(isMail).length
  for (const one of claimed.prepared) if (channels.admit(one)) startSending(state, one)
  if (claimed.isMore) wake(state)
  // these channels had no free place; the next ones of the project may have
  else if (claimed.cursors.size > 0) wakeAt(state, new Date(nowMs() + NEXT_CHANNELS_DELAY_MS))
}

const reportUndecrypted = ({ context }: DeliveryState, deliveries: number) =>
  context.log.error(
    { event: 'undecrypted_deliveries', deliveries },
    'SECRET_KEY does not decrypt the channels of some deliveries; they wait up to a day for a process that has the key',
  )

/** Whether the loop was woken, or lanes are due. */
async function shouldClaim(state: DeliveryState): Promise<boolean> {
  const { isWoken } = state
  state.isWoken = false
  // a queue that is never idle must not keep the relay from being woken
  const isCheckDue = monotonicMs() - state.checkedMs >= IDLE_INTERVAL_MS
  if (isWoken && !isCheckDue) return true
  return (await hasDueLanes(state)) || isWoken
}

/** Normally the only query of an idle queue. It also wakes the relay. */
async function hasDueLanes(state: DeliveryState): Promise<boolean> {
  state.checkedMs = monotonicMs()
  const due = await findDueWork(state.context.db, now())
  if (due.messages || due.oldMessages) state.relay.wake()
  return due.lanes
}

const startSending = (state: DeliveryState, prepared: ClaimedDelivery) =>
  state.requests.start(() => send(state, prepared))

/** Makes one attempt. Afterwards it starts those that waited for a place of the channel. */
async function send(state: DeliveryState, prepared: ClaimedDelivery): Promise<void> {
  const [startedAt, startedMs] = [now(), monotonicMs()]
  const outcome = await sendMessage(prepared, startedAt, state.context)
  if (prepared.sendableAt !== null && outcome !== null)
    state.metrics.firstAttempt.observe(Math.max(0, startedAt.getTime() - prepared.sendableAt.getTime()) / 1000)
  if (outcome === null) state.metrics.withoutConnection.inc()
  const { next, back } = state.channels.release(prepared, outcome, monotonicMs() - startedMs)
  for (const one of next) startSending(state, one)
  state.mails -= [prepared, ...back].filter(isMail).length
  state.finished.push({ prepared, outcome }, ...back.map(toUnsentAttempt))
  state.wakeWrites()
}

/** A round of the loop that writes. Results that could not be written are kept for the next round. */
async function writeFinished(state: DeliveryState): Promise<void> {
  const { context, owner, metrics, finished: writing } = state
  state.finished = []
  if (writing.length === 0) return
  const { statuses, retries, unwritten: left, error } = await finishByProject(context.db, owner, writing, now())
  for (const status of statuses) metrics.deliveries.inc({ status })
  for (const retryAt of retries) wakeAt(state, retryAt)
  if (left.length < writing.length) wake(state)
  if (left.length === 0) return
  state.finished = [...left, ...state.finished]
  throw error
}

function wake(state: DeliveryState): void {
  state.isWoken = true
  state.wakeClaims()
}

function wakeAt(state: DeliveryState, at: Date): void {
  const waitMs = at.getTime() - nowMs()
  if (waitMs <= IDLE_INTERVAL_MS) sleep(Math.max(0, waitMs) + TIMER_SLACK_MS, state.stopping).then(() => wake(state))
}

const isMail = ({ message }: PreparedDelivery) => message.via === 'mail'

/** For a delivery that was claimed but not sent: its lane is released. */
const toUnsentAttempt = (prepared: PreparedDelivery): FinishedAttempt => ({ prepared, outcome: null })
