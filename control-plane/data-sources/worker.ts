import type { Egress } from '../../shared/egress/index.ts'
import type { Log } from '../../shared/log.ts'
import { atMost } from '../platform/at-most.ts'
import { monotonicMs, now, nowMs, sleep } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import { newId } from '../platform/ids.ts'
import type { Loop, LoopTools } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import { type Db, isRefusedRow } from '../platform/postgres.ts'
import { rememberOpened, type Secrets } from '../platform/secrets.ts'
import { TURN_PATIENCE_MS } from '../platform/thread.ts'
import { archiveMissing, takeIn } from './apply-actions.ts'
import { sourcesWithMissing } from './children-store.ts'
import { backOf, endOf, isNews, MOST_AT_ONCE, type Result } from './fetch.ts'
import { ASKING_LIMIT_MS } from './fetch-reader.ts'
import { startHistory } from './history-worker.ts'
import { createHosts } from './hosts.ts'
import { sourceMeters } from './meters.ts'
import { ARCHIVE_AFTER_MS } from './reconcile.ts'
import { fetchSource } from './source-reader.ts'
import { type ClaimedSource, claimDue, type Ended, endFetches, nextDue } from './worker-store.ts'

export type SourceContext = LoopTools & { db: Db; nats: Nats; secrets: Secrets; egress: Egress; publicUrl: string }

/** Without a source it costs one query every ten seconds; NOTIFY or a source that falls due wakes it before. */
const IDLE_MS = 10_000
/** Claims are made, and ends written, for all that came together in this time. */
const PACE_MS = 250
/** Of the pool's connections, which others need too. */
const TRANSACTIONS_AT_ONCE = 4
/** A source waits for its turn at a host for so long at most. */
const WAIT_MS = 5_000
/** One that had no turn is tried again after this: soon where too many wait, later behind a slow host. */
const PUT_OFF_MS = { full: 2_000, slow: 10_000 }
const RETRY_AFTER_MS = 5_000
/** More than the timeout of the fetch: a long document waits for its turn, the addresses that it names are asked, and what it says is taken in. */
const LEASE_SPARE_MS = TURN_PATIENCE_MS + ASKING_LIMIT_MS + 20_000
const REVIEW_EVERY_MS = 60_000
const REVIEWED_AT_ONCE = 50

/**
 * Fetches data sources when they are due and takes in what they say; any number of processes share the work. One that
 * says the same as before costs no transaction: its end is written with those of others. `wake` it on NOTIFY
 * "data_sources".
 */
export function startDataSourceWorker(given: SourceContext): Loop {
  const context = { ...given, secrets: rememberOpened(given.secrets), checkLiteral: given.egress.checkLiteral }
  const { db, log } = context
  const owner = newId()
  const meters = sourceMeters(context.metrics)
  const history = startHistory(context, owner, meters)
  const hosts = createHosts<ClaimedSource>()
  const inTransaction = atMost(TRANSACTIONS_AT_ONCE)
  const stopping = new AbortController()
  const inFlight = new Set<Promise<void>>()
  let ended: Ended[] = []
  let isWakeSet = false
  let reviewedMs = monotonicMs()

  const end = (outcome: string, how: Ended | null) => {
    meters.fetches.inc({ outcome })
    if (how !== null) ended.push(how)
    if (isWakeSet) return
    isWakeSet = true
    sleep(PACE_MS, stopping.signal).then(loop.wake)
  }

  const handle = async (source: ClaimedSource) => {
    const fetch = await fetchSource(context, source, stopping.signal)
    if (stopping.signal.aborted) return end('called_off', backOf(source, now(), null))
    const isTaken = isNews(fetch) ? await inTransaction(() => takeIn(context, owner, fetch)) : null
    if (isTaken === false) return end('void', backOf(source, now(), null))
    history.add(fetch)
    end(outcomeOf(fetch.result, isTaken !== null), isTaken === null ? endOf(fetch) : null)
  }

  const putOff = (source: ClaimedSource, why: keyof typeof PUT_OFF_MS) =>
    end('put_off', backOf(source, now(), PUT_OFF_MS[why]))

  const start = (source: ClaimedSource) => {
    const startedMs = monotonicMs()
    meters.late.observe(source.lateMs / 1_000)
    const handling = handle(source).catch(error => end('error', endOfError(log, source, error)))
    inFlight.add(handling)
    meters.inFlight.set(inFlight.size)
    void handling.finally(() => {
      inFlight.delete(handling)
      meters.inFlight.set(inFlight.size)
      const { next, back } = hosts.leave(source, monotonicMs() - startedMs)
      for (const one of back) putOff(one, 'slow')
      for (const one of next) start(one)
    })
  }

  const begin = (source: ClaimedSource) => {
    const turn = hosts.enter(source, monotonicMs())
    if (turn === 'now') start(source)
    if (turn === 'full') putOff(source, turn)
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
    if (monotonicMs() - reviewedMs < REVIEW_EVERY_MS) return
    reviewedMs = monotonicMs()
    const before = new Date(nowMs() - ARCHIVE_AFTER_MS)
    for (const id of await sourcesWithMissing(db, before, REVIEWED_AT_ONCE)) await archiveMissing(context, id, now())
  }

  const loop = startDueLoop('data-sources', IDLE_MS, context, async signal => {
    isWakeSet = false
    for (const source of hosts.giveUp(monotonicMs() - WAIT_MS)) putOff(source, 'slow')
    await write()
    const due = await nextDue(db)
    const room = MOST_AT_ONCE - inFlight.size - hosts.waiting()
    if (due === null || signal.aborted) return null
    await review()
    // without room, the next fetch that ends wakes it
    if (room <= 0) return null
    if (due.getTime() > nowMs()) return due
    for (const source of await claimDue(db, owner, room, LEASE_SPARE_MS)) begin(source)
    return new Date(nowMs() + PACE_MS)
  })

  return {
    wake: loop.wake,
    async stop() {
      stopping.abort()
      for (const source of hosts.giveUp(Number.POSITIVE_INFINITY)) end('called_off', backOf(source, now(), null))
      await loop.stop()
      await Promise.allSettled(inFlight)
      await history.stop()
      await write()
    },
  }
}

const outcomeOf = (result: Result, isNew: boolean) => {
  if ('failure' in result) return result.failure.isOurFault ? 'our_fault' : 'failed'
  return isNew ? 'changed' : 'same'
}

const REFUSED = { code: 'internal_error', message: 'Picket could not take in the document', isOurFault: true }

/** A source that we cannot take in waits for its next turn; anything else may be over soon, an engine that is away. */
function endOfError(log: Log, source: ClaimedSource, err: unknown): Ended {
  const isOfThisSource = isRefusedRow(err) || err instanceof TypeError || err instanceof RangeError
  log.error({ err, dataSourceId: source.id }, 'a data source was not taken in')
  if (!isOfThisSource) return backOf(source, now(), RETRY_AFTER_MS)
  const at = now()
  return endOf({ source, result: { failure: REFUSED }, startedAt: at, endedAt: at, responseTimeMs: 0 })
}
