import type { Egress } from '../../../../shared/egress/types.ts'
import type { Log } from '../../../../shared/process/log.ts'
import { limitConcurrency } from '../../../foundation/platform/concurrency/concurrency-limit.ts'
import { THREAD_WAIT_TIMEOUT_MS } from '../../../foundation/platform/concurrency/worker-thread.ts'
import { cacheDecrypted, type SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import { type Db, isInvalidRowError } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, now, nowMs, sleep } from '../../../foundation/platform/time/clock.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../../foundation/platform/time/scheduled-loop.ts'
import { applyFetch, archiveMissing } from '../children/apply-actions.ts'
import { listSourcesWithMissing } from '../children/child-store.ts'
import { startHistoryWriter } from '../children/history-worker.ts'
import { ARCHIVE_AFTER_MS } from '../children/reconciliation.ts'
import { createSourceMetrics } from '../metrics.ts'
import { type ClaimedSource, claimDue, endFetches, type FetchEnd, findNextDueAt } from './claim-store.ts'
import { fetchSource } from './fetch-reader.ts'
import { buildFetchEnd, buildRelease, type FetchResult, hasChanges, MAX_CONCURRENT_FETCHES } from './fetch-result.ts'
import { createHostLimiter } from './host-limiter.ts'
import { URL_CHECKS_TIMEOUT_MS } from './http-reader.ts'

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
/** Connections of the pool that this worker may use at the same time. */
const MAX_CONCURRENT_TRANSACTIONS = 4
/** Maximum time that a source waits for its host. */
const MAX_HOST_WAIT_MS = 5_000
/** A deferred source is due again after this: soon when too many wait, later behind a slow host. */
const DEFER_MS = { full: 2_000, slow: 10_000 }
const RETRY_AFTER_MS = 5_000
/** Lease in addition to the timeout: waiting for the thread, requesting the URLs of the document, applying the result. */
export const LEASE_SPARE_MS = THREAD_WAIT_TIMEOUT_MS + URL_CHECKS_TIMEOUT_MS + 20_000
const REVIEW_INTERVAL_MS = 60_000
const MAX_SOURCES_PER_REVIEW = 50

/**
 * Fetches data sources when they are due and applies their results. Any number of processes share the work. An
 * unchanged result needs no transaction: its end is written in a batch. Call `wake` on NOTIFY "data_sources".
 */
export function startDataSourceWorker(given: SourceWorkerContext): Loop {
  const context = { ...given, secrets: cacheDecrypted(given.secrets), checkLiteral: given.egress.checkLiteral }
  const { db, log } = context
  const owner = newId()
  const sourceMetrics = createSourceMetrics(context.metrics)
  const history = startHistoryWriter(context, owner, sourceMetrics)
  const hosts = createHostLimiter<ClaimedSource>()
  const inTransaction = limitConcurrency(MAX_CONCURRENT_TRANSACTIONS)
  const stopping = new AbortController()
  const inFlight = new Set<Promise<void>>()
  let ended: FetchEnd[] = []
  let isWakeSet = false
  let reviewedMs = monotonicMs()

  const end = (outcome: string, fetchEnd: FetchEnd | null) => {
    sourceMetrics.fetches.inc({ outcome })
    if (fetchEnd !== null) ended.push(fetchEnd)
    if (isWakeSet) return
    isWakeSet = true
    sleep(BATCH_INTERVAL_MS, stopping.signal).then(loop.wake)
  }

  const handle = async (source: ClaimedSource) => {
    const fetch = await fetchSource(context, source, stopping.signal)
    if (stopping.signal.aborted) return end('cancelled', buildRelease(source, now(), null))
    const isApplied = hasChanges(fetch) ? await inTransaction(() => applyFetch(context, owner, fetch)) : null
    if (isApplied === false) return end('discarded', buildRelease(source, now(), null))
    history.add(fetch)
    end(getMetricOutcome(fetch.result, isApplied !== null), isApplied === null ? buildFetchEnd(fetch) : null)
  }

  const defer = (source: ClaimedSource, reason: keyof typeof DEFER_MS) =>
    end('deferred', buildRelease(source, now(), DEFER_MS[reason]))

  const start = (source: ClaimedSource) => {
    const startedMs = monotonicMs()
    sourceMetrics.late.observe(source.lateMs / 1_000)
    const handling = handle(source).catch(error => end('error', buildErrorEnd(log, source, error)))
    inFlight.add(handling)
    sourceMetrics.inFlight.set(inFlight.size)
    void handling.finally(() => {
      inFlight.delete(handling)
      sourceMetrics.inFlight.set(inFlight.size)
      const { next, deferred } = hosts.leave(source, monotonicMs() - startedMs)
      for (const waiting of deferred) defer(waiting, 'slow')
      for (const waiting of next) start(waiting)
    })
  }

  const begin = (source: ClaimedSource) => {
    const turn = hosts.enter(source, monotonicMs())
    if (turn === 'now') start(source)
    if (turn === 'full') defer(source, turn)
  }

  const write = async () => {
    const writing = ended
    ended = []
    try {
      await endFetches(db, owner, writing)
    } catch (error) {
      ended.push(...writing)
      throw error
    }
  }

  const review = async () => {
    if (monotonicMs() - reviewedMs < REVIEW_INTERVAL_MS) return
    reviewedMs = monotonicMs()
    const before = new Date(nowMs() - ARCHIVE_AFTER_MS)
    for (const id of await listSourcesWithMissing(db, before, MAX_SOURCES_PER_REVIEW))
      await archiveMissing(context, id, now())
  }

  const loop = startScheduledLoop('data-sources', IDLE_MS, context, async signal => {
    isWakeSet = false
    for (const source of hosts.removeExpired(monotonicMs() - MAX_HOST_WAIT_MS)) defer(source, 'slow')
    await write()
    const due = await findNextDueAt(db)
    const room = MAX_CONCURRENT_FETCHES - inFlight.size - hosts.waiting()
    if (due === null || signal.aborted) return null
    await review()
    // without room, the end of a fetch wakes the loop
    if (room <= 0) return null
    if (due.getTime() > nowMs()) return due
    for (const source of await claimDue(db, owner, room, LEASE_SPARE_MS)) begin(source)
    return new Date(nowMs() + BATCH_INTERVAL_MS)
  })

  return {
    wake: loop.wake,
    async stop() {
      stopping.abort()
      for (const source of hosts.removeExpired(Number.POSITIVE_INFINITY))
        end('cancelled', buildRelease(source, now(), null))
      await loop.stop()
      await Promise.allSettled(inFlight)
      await history.stop()
      await write()
    },
  }
}

const getMetricOutcome = (result: FetchResult, isNew: boolean) => {
  if ('failure' in result) return result.failure.isOurFault ? 'internal_error' : 'failed'
  return isNew ? 'changed' : 'same'
}

const INTERNAL_FAILURE = { code: 'internal_error', message: 'Picket could not process the document', isOurFault: true }

/**
 * Builds the end after an error. When the source itself causes the error, it waits for its next slot. Other errors,
 * such as an unreachable database, are retried soon.
 */
function buildErrorEnd(log: Log, source: ClaimedSource, err: unknown): FetchEnd {
  const isOfThisSource = isInvalidRowError(err) || err instanceof TypeError || err instanceof RangeError
  log.error({ err, dataSourceId: source.id }, 'could not process a data source')
  if (!isOfThisSource) return buildRelease(source, now(), RETRY_AFTER_MS)
  const at = now()
  return buildFetchEnd({ source, result: { failure: INTERNAL_FAILURE }, startedAt: at, endedAt: at, responseTimeMs: 0 })
}
