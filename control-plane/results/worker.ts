import { REGIONS } from '../../shared/check.ts'
import type { Log } from '../../shared/log.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { RESULTS_STREAM } from '../../shared/subjects.ts'
import { allParents } from '../monitors/parent-store.ts'
import { historyPlace, isOtherHistory, latestRevision } from '../monitors/store.ts'
import { monotonicMs } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { CRITICAL, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import { streamState } from '../platform/ordered-reader.ts'
import type { Db } from '../platform/postgres.ts'
import { LEASE_MS, type ReaderTools } from './actions.ts'
import { type LagSeen, measureLag } from './lag-actions.ts'
import { followLiveSets } from './live-sets-actions.ts'
import { createMeters } from './meters.ts'
import { answered, isSettled, type Reach } from './proof.ts'
import { type PartitionReader, startReader } from './reader.ts'
import { isRegionGone, lookAtSight, newRegionSight } from './region-sight.ts'
import { type Holding, partitionsToTake } from './share.ts'
import { changedSince, partitionsOf, releasePartitions, renewLeases, takePartitions } from './store.ts'

/** With the lease: what a process that died had is read by another one within 10 s. */
const OWNERSHIP_INTERVAL_MS = 1_500
const FOLLOW_INTERVAL_MS = 2_000
const STREAM_INTERVAL_MS = 2_000
const LAG_INTERVAL_MS = 5_000
const LIVE_SETS_INTERVAL_MS = 2_000
/** How long after it was made a dependency may be unknown here. */
const PARENTS_INTERVAL_MS = 10_000
const CHANGES_AT_ONCE = 5_000

export type VerdictContext = {
  db: Db
  /** for what keeps the partitions, so that it never waits for a connection; `db` when left out */
  leases?: Db
  nats: Nats
  log: Log
  metrics: Metrics
  /** where the dashboard is, without a slash at the end */
  publicUrl: string
  storeCertificates: ReaderTools['storeCertificates']
}

export type VerdictWorker = {
  /** Monitors have changed (NOTIFY `monitors`): look now instead of within two seconds. */
  wake(): void
  /** Stores what has been counted and gives the partitions back at once. */
  stop(): Promise<void>
}

/**
 * The role `verdict`: owns its share of the result partitions and reads them (decisions 11.5). Any number of processes
 * may do so; each partition has one reader at a time.
 */
export async function startVerdict(context: VerdictContext): Promise<VerdictWorker> {
  const { db, leases = db, log, metrics } = context
  const me = newId()
  const meters = createMeters(metrics)
  const tools: ReaderTools = {
    ...context,
    meters,
    setAside(what, message, details) {
      meters.setAside.inc({ what })
      log.error(details, message)
    },
    parents: new Set(await allParents(db)),
    liveSets: await followLiveSets(context),
    regionSight: newRegionSight(),
  }
  const readers = new Map<number, PartitionReader>()
  let place = await historyPlace(db)
  let revision = await latestRevision(db)
  let reach: Reach = { answeredMs: monotonicMs(), sinceMs: Number.NEGATIVE_INFINITY }

  const own = startLoop(
    'verdict-ownership',
    OWNERSHIP_INTERVAL_MS,
    { log, metrics },
    async () => {
      const silent = [...readers.values()].filter(reader => !reader.isReading()).map(reader => reader.id)
      const holdings = await renewLeases(leases, me, silent, LEASE_MS)
      const mayTake = silent.length === 0 && isSettled(reach, monotonicMs())
      const owned = mayTake ? await takeShare(leases, me, holdings) : ownedBy(holdings, me)
      matchReaders(readers, owned, tools, () => own.wake())
      tools.meters.owned.set(owned.filter(({ id }) => readers.get(id)?.isReading()).length)
    },
    CRITICAL,
  )
  const follow = startLoop(
    'verdict-monitors',
    FOLLOW_INTERVAL_MS,
    { log, metrics },
    async () => {
      const now = await historyPlace(db)
      if (isOtherHistory(now, place, revision)) {
        log.warn({ revision }, 'PostgreSQL has another history; all partitions are read again')
        revision = await latestRevision(db)
        for (const reader of readers.values()) reader.restart()
      }
      place = now
      while (now.revision > revision) {
        const changed = await changedSince(db, revision, CHANGES_AT_ONCE)
        for (const { id, partition } of changed) readers.get(partition)?.markStale([id])
        revision = changed.at(-1)?.revision ?? revision
        if (changed.length < CHANGES_AT_ONCE) return
      }
    },
    CRITICAL,
  )
  const watch = startLoop(
    'verdict-stream',
    STREAM_INTERVAL_MS,
    { log, metrics },
    async () => {
      const stream = await streamState(context.nats, RESULTS_STREAM)
      reach = answered(reach, monotonicMs())
      for (const reader of readers.values()) {
        if (reader.isAstray(stream)) reader.restart()
        // NATS answers, so what is silent is this consumer: the client library does not always revive it
        else if (!reader.isReading()) reader.reopen()
      }
    },
    CRITICAL,
  )
  const parents = startLoop('verdict-parents', PARENTS_INTERVAL_MS, { log, metrics }, async () => {
    tools.parents = new Set(await allParents(db))
  })
  const liveSets = startLoop('verdict-live-sets', LIVE_SETS_INTERVAL_MS, { log, metrics }, async () => {
    await tools.liveSets.refresh()
    const { absences } = tools.liveSets.absences()
    const isGone = (region: string) => isRegionGone(tools.liveSets.of(region), absences, region)
    lookAtSight(tools.regionSight, REGIONS, isGone, monotonicMs())
  })
  const seen: LagSeen = { caughtUpWith: null }
  const lag = startLoop('verdict-lag', LAG_INTERVAL_MS, { log, metrics }, () =>
    measureLag(tools, id => readers.get(id)?.position() ?? null, seen),
  )

  return {
    wake: () => follow.wake(),
    async stop() {
      await Promise.all([own.stop(), follow.stop(), watch.stop(), parents.stop(), liveSets.stop(), lag.stop()])
      await Promise.all([...readers.values()].map(reader => reader.stop()))
      await releasePartitions(leases, me)
    },
  }
}

/** Answers what is owned then. */
async function takeShare(db: Db, me: string, holdings: Holding[]): Promise<{ id: number; epoch: number }[]> {
  const wanted = partitionsToTake(holdings, me)
  if (wanted.length === 0) return ownedBy(holdings, me)
  await takePartitions(db, me, wanted, LEASE_MS)
  return partitionsOf(db, me)
}

const ownedBy = (holdings: Holding[], me: string) => holdings.filter(({ owner }) => owner === me)

/** Readers for exactly what is owned now, by this epoch. Where one has to end first, the next one begins after it. */
function matchReaders(
  readers: Map<number, PartitionReader>,
  owned: { id: number; epoch: number }[],
  tools: ReaderTools,
  onEnd: () => void,
): void {
  const epochs = new Map(owned.map(({ id, epoch }) => [id, epoch]))
  for (const reader of readers.values()) if (epochs.get(reader.id) !== reader.epoch) void reader.stop()
  for (const partition of owned) {
    if (readers.has(partition.id)) continue
    const reader = startReader(partition, tools, () => {
      readers.delete(partition.id)
      onEnd()
    })
    readers.set(partition.id, reader)
  }
}
