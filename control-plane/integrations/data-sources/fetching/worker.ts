import type { Egress } from '../../../../shared/egress/types.ts'
import { limitConcurrency } from '../../../foundation/platform/concurrency/concurrency-limit.ts'
import type { KeyedLimiter } from '../../../foundation/platform/concurrency/keyed-limiter.ts'
import { createWorkPool, type WorkPool } from '../../../foundation/platform/concurrency/work-pool.ts'
import { THREAD_WAIT_TIMEOUT_MS } from '../../../foundation/platform/concurrency/worker-thread.ts'
import { DecryptionError } from '../../../foundation/platform/crypto/decryption-error.ts'
import { cacheDecrypted, type SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import { createOwnFaultDetector, type OwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import { type Db, isLockTimeout, isTenantError } from '../../../foundation/platform/postgres/client.ts'
import { isTransientError } from '../../../foundation/platform/postgres/transient-error.ts'
import { monotonicMs, now, nowMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { ALIGNED, type Loop, type LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { applyFetch, archiveMissing } from '../children/apply-actions.ts'
import { listSourcesWithMissing } from '../children/child-store.ts'
import { type HistoryWriter, startHistoryWriter } from '../children/history-worker.ts'
import { forgetStatuses } from '../children/last-resort-actions.ts'
import { createSourceMetrics, type SourceMetrics } from '../metrics.ts'
import { type ClaimedSource, claimDue, endFetches, type FetchEnd, findNextDueAt } from './claim-store.ts'
import { fetchSource } from './fetch-reader.ts'
import {
  buildFetchEnd,
  buildInternalFailure,
  buildRelease,
  type FetchResult,
  hasChanges,
  MAX_CONCURRENT_FETCHES,
  type SourceFetch,
} from './fetch-result.ts'
import { createHostLimiter, isQuickFetch } from './host-limiter.ts'
import { HOST_CHECK_TIMEOUT_MS, URL_CHECKS_TIMEOUT_MS } from './http-reader.ts'

type SourceWorkerContext = LoopTools & {
  db: Db
  nats: Nats
  secrets: SecretCipher
  egress: Egress
  publicUrl: string
}

/** Interval of queries while no source is due. NOTIFY or a due source wakes the loop earlier. */
const IDLE_MS = 10_000
/** Claims and ends of fetches are batched for this time. */
const BATCH_INTERVAL_MS = 250
/** Connections that results may use at the same time: half of the pool, which all loops of the role share. */
const MAX_CONCURRENT_TRANSACTIONS = 2
/** Maximum time that a source waits for its host. */
const MAX_HOST_WAIT_MS = 5_000
/** A deferred source is due again after this: soon when too many wait, later behind a slow host. */
const DEFER_MS = { full: 2_000, slow: 10_000 }
const RETRY_AFTER_MS = 5_000
/** When the end of a fetch is written again whose source another transaction has locked. */
const LOCKED_DELAY_MS = 1_000
/** Lease in addition to the timeout: waiting for the thread, requesting the URLs of the document, applying the result. */
export const LEASE_SPARE_MS = THREAD_WAIT_TIMEOUT_MS + URL_CHECKS_TIMEOUT_MS + HOST_CHECK_TIMEOUT_MS + 20_000
const REVIEW_INTERVAL_MS = 60_000
const MAX_SOURCES_PER_REVIEW = 50

type SourceWorkerState = {
  context: SourceWorkerContext & { checkLiteral: Egress['checkLiteral']; ownFaults: OwnFaultDetector }
  /** of the leases */
  owner: string
  metrics: SourceMetrics
  history: HistoryWriter
  hosts: KeyedLimiter<ClaimedSource>
  fetches: WorkPool
  inTransaction: ReturnType<typeof limitConcurrency>
  /** aborted when the worker stops */
  stopping: AbortSignal
  /** ends of fetches to be written */
  ended: FetchEnd[]
  /** whether a timer will wake the loop to write them */
  isWakeSet: boolean
  /** when missing children were last reviewed, by the monotonic clock */
  reviewedMs: number
  wakeLoop(): void
}

/**
 * Fetches data sources when they are due and applies their results. Any number of processes share the work. An
 * unchanged result needs no transaction: its end is written in a batch. Call `wake` on NOTIFY "data_sources".
 */
export function startDataSourceWorker(given: SourceWorkerContext): Loop {
  const context = {
    ...given,
    secrets: cacheDecrypted(given.secrets),
    checkLiteral: given.egress.checkLiteral,
    ownFaults: createOwnFaultDetector(),
  }
  const stopping = new AbortController()
  const state = createState(context, stopping.signal, () => loop.wake())
  const loop = startScheduledLoop('data-sources', IDLE_MS, context, signal => runRound(state, signal), ALIGNED)
  return {
    wake: loop.wake,
    async stop() {
      stopping.abort()
      for (const source of state.hosts.removeWaiting(Number.POSITIVE_INFINITY)) end(state, 'cancelled', release(source))
      await loop.stop()
      await state.fetches.waitUntilIdle()
      await state.history.stop()
      await writeEnded(state)
    },
  }
}

function createState(
  context: SourceWorkerState['context'],
  stopping: AbortSignal,
  wakeLoop: () => void,
): SourceWorkerState {
  const owner = newId()
  const metrics = createSourceMetrics(context.metrics)
  return {
    context,
    owner,
    metrics,
    history: startHistoryWriter(context, owner, metrics),
    hosts: createHostLimiter(),
    fetches: createWorkPool({
      maxConcurrent: MAX_CONCURRENT_FETCHES,
      onChange: running => metrics.inFlight.set(running),
    }),
    inTransaction: limitConcurrency(MAX_CONCURRENT_TRANSACTIONS),
    stopping,
    ended: [],
    isWakeSet: false,
    reviewedMs: monotonicMs(),
    wakeLoop,
  }
}

/** Writes the ends of fetches and starts the fetches that are due. Returns when the next round is due. */
async function runRound(state: SourceWorkerState, signal: AbortSignal): Promise<Date | null> {
  const { context, owner, hosts } = state
  state.isWakeSet = false
  for (const source of hosts.removeWaiting(monotonicMs() - MAX_HOST_WAIT_MS)) defer(state, source, 'slow')
  await writeEnded(state)
  const due = await findNextDueAt(context.db)
  const free = state.fetches.free(hosts.waiting())
  if (due === null || signal.aborted) return null
  await reviewMissing(state)
  // without a free place, the end of a fetch wakes the loop
  if (free === 0) return null
  if (due.getTime() > nowMs()) return due
  for (const source of await claimDue(context.db, owner, free, LEASE_SPARE_MS)) enter(state, source)
  return new Date(nowMs() + BATCH_INTERVAL_MS)
}

/** Starts the fetch of a claimed source now, lets it wait for its host, or defers it. */
function enter(state: SourceWorkerState, source: ClaimedSource): void {
  const turn = state.hosts.enter(source, monotonicMs())
  if (turn === 'now') startFetch(state, source)
  if (turn === 'full') defer(state, source, turn)
}

function startFetch(state: SourceWorkerState, source: ClaimedSource): void {
  const startedMs = monotonicMs()
  state.metrics.late.observe(source.lateMs / 1_000)
  state.fetches.start(async () => {
    await processSource(state, source).catch(error => endAfterError(state, source, error))
    leave(state, source, monotonicMs() - startedMs)
  })
}

/** Starts the fetch that waited for the host, or defers all that wait for it. */
function leave(state: SourceWorkerState, source: ClaimedSource, tookMs: number): void {
  const { next, back } = state.hosts.leave(source, isQuickFetch(tookMs))
  for (const waiting of back) defer(state, waiting, 'slow')
  for (const waiting of next) startFetch(state, waiting)
}

/** Fetches a source and applies the result. */
async function processSource(state: SourceWorkerState, source: ClaimedSource): Promise<void> {
  const fetch = await fetchSource(state.context, source, state.stopping)
  if (state.stopping.aborted) return end(state, 'cancelled', release(source))
  await storeFetch(state, fetch)
}

/** Applies the result of a fetch, if it changes something, and ends the fetch. */
async function storeFetch(state: SourceWorkerState, fetch: SourceFetch): Promise<void> {
  const { context, owner } = state
  const { source } = fetch
  const isApplied = hasChanges(fetch) ? await state.inTransaction(() => applyFetch(context, owner, fetch)) : null
  if (isApplied === false) return end(state, 'discarded', release(source))
  state.history.add(fetch)
  end(state, getMetricOutcome(fetch.result, isApplied !== null), isApplied === null ? buildFetchEnd(fetch) : null)
}

const release = (source: ClaimedSource) => buildRelease(source, now(), null)

const defer = (state: SourceWorkerState, source: ClaimedSource, reason: keyof typeof DEFER_MS) =>
  end(state, 'deferred', buildRelease(source, now(), DEFER_MS[reason]))

/** Records the end of a fetch, to be written with others. `fetchEnd` null: it was written with the result. */
function end(state: SourceWorkerState, outcome: string, fetchEnd: FetchEnd | null): void {
  state.metrics.fetches.inc({ outcome })
  if (fetchEnd !== null) state.ended.push(fetchEnd)
  wakeAfter(state, BATCH_INTERVAL_MS)
}

function wakeAfter(state: SourceWorkerState, delayMs: number): void {
  if (state.isWakeSet) return
  state.isWakeSet = true
  sleep(delayMs, state.stopping).then(state.wakeLoop)
}

/** Ends that could not be written are kept for the next round, also those whose source is locked. */
async function writeEnded(state: SourceWorkerState): Promise<void> {
  const writing = state.ended
  state.ended = []
  try {
    const locked = await endFetches(state.context.db, state.owner, writing)
    state.ended.push(...writing.filter(({ id }) => locked.has(id)))
  } catch (error) {
    state.ended.push(...writing)
    throw error
  }
  if (state.ended.length > 0) wakeAfter(state, LOCKED_DELAY_MS)
}

/** Archives monitors whose keys have been missing for long, once in a while. */
async function reviewMissing(state: SourceWorkerState): Promise<void> {
  const { context } = state
  if (monotonicMs() - state.reviewedMs < REVIEW_INTERVAL_MS) return
  state.reviewedMs = monotonicMs()
  for (const id of await listSourcesWithMissing(context.db, now(), MAX_SOURCES_PER_REVIEW)) {
    try {
      await archiveMissing(context, id, now())
    } catch (err) {
      if (!isTenantError(err)) throw err
      context.log.warn(
        { err, dataSourceId: id },
        'cannot archive the missing monitors of a data source; retrying in a minute',
      )
    }
  }
}

const getMetricOutcome = (result: FetchResult, isNew: boolean) => {
  if ('failure' in result) return result.failure.isOurFault ? 'internal_error' : 'failed'
  return isNew ? 'changed' : 'same'
}

/**
 * Ends a fetch after an error. An unreachable database or locked monitors are tried again soon. After any other error, the fetch
 * has failed by a fault of Picket, so that no monitor keeps a status that nothing renews. Never rejects.
 */
async function endAfterError(state: SourceWorkerState, source: ClaimedSource, err: unknown): Promise<void> {
  if (releaseIfTransient(state, source, err)) return
  const fetch = buildInternalFailure(source, describeError(err), now())
  try {
    await storeFetch(state, fetch)
  } catch (storeErr) {
    await endUnstored(state, fetch, storeErr)
  }
}

/** Ends a failed fetch that could not be stored as others: its monitors become unknown without what usually follows from it. */
async function endUnstored(state: SourceWorkerState, fetch: SourceFetch, err: unknown): Promise<void> {
  const { context, owner } = state
  if (releaseIfTransient(state, fetch.source, err)) return
  try {
    const isStored = await state.inTransaction(() => forgetStatuses(context, owner, fetch))
    end(state, 'error', isStored ? null : release(fetch.source))
  } catch (lastErr) {
    if (!releaseIfTransient(state, fetch.source, lastErr)) end(state, 'error', buildFetchEnd(fetch))
  }
}

/** Logs an error, and releases the source when the same work may succeed soon. Returns whether it did. */
function releaseIfTransient(state: SourceWorkerState, source: ClaimedSource, err: unknown): boolean {
  if (!isLockTimeout(err)) state.context.log.error({ err, dataSourceId: source.id }, 'could not process a data source')
  const isTransient = isTransientError(err)
  if (isTransient) end(state, 'error', buildRelease(source, now(), RETRY_AFTER_MS))
  return isTransient
}

/** What users read about an error. Its own message may contain values. */
const describeError = (err: unknown): string =>
  err instanceof DecryptionError
    ? 'Picket could not decrypt the stored headers or credentials of this data source'
    : 'Picket could not process this data source because of an error of its own'
