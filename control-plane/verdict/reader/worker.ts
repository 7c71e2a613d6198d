import { REGIONS } from '../../../shared/checks/check.ts'
import { PARTITIONS, RESULTS_STREAM } from '../../../shared/nats/subjects.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { newId } from '../../foundation/platform/ids.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import { loadStreamState } from '../../foundation/platform/nats/ordered-reader.ts'
import { type Db, setStatementTimeout } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import type { EngineClocks } from '../../foundation/platform/time/engine-clocks.ts'
import { CRITICAL, type LoopLimits, startLoop } from '../../foundation/platform/time/loop.ts'
import { listAllParentIds } from '../../monitoring/monitors/parents/store.ts'
import {
  getHistoryPosition,
  getLatestRevision,
  type HistoryPosition,
  isDifferentHistory,
} from '../../monitoring/monitors/store.ts'
import { createKnownLiveSets } from './live-sets/live-sets-actions.ts'
import { createVerdictMetrics } from './metrics.ts'
import { type PartitionReader, startPartitionReader } from './partition-reader.ts'
import { type LagState, measureLag } from './partitions/lag-actions.ts'
import { isStableReachable, type NatsReachability, recordAnswer } from './partitions/liveness.ts'
import {
  listChangedMonitors,
  listOwnedPartitions,
  releasePartitions,
  renewLeases,
  takePartitions,
} from './partitions/partition-store.ts'
import { type PartitionLease, selectPartitionsToTake } from './partitions/share.ts'
import { LEASE_MS, type ReaderTools } from './reading-actions.ts'
import { type RegionPositions, updateArrivals } from './unchecked/arrival-actions.ts'
import { createRegionCoverage, isRegionGone, updateRegionCoverage } from './unchecked/region-coverage.ts'

/** Together with the lease: another process reads the partitions of a process that ended within 10 s. */
export const OWNERSHIP_INTERVAL_MS = 1_500
/** Changes of monitors are found with the live sets, and by NOTIFY; this is for what both miss. */
const FOLLOW_INTERVAL_MS = 30_000
const STREAM_INTERVAL_MS = 2_000
const LAG_INTERVAL_MS = 5_000
/** How long a message of a region in a partition of another process may be unknown here. */
const ARRIVALS_INTERVAL_MS = 10_000
/** How long changes of live sets, and those of monitors without a notification, may be unknown here. */
const LIVE_SETS_INTERVAL_MS = 2_000
/** How long a new dependency may be unknown here. */
const PARENTS_INTERVAL_MS = 10_000
const CHANGES_PER_QUERY = 5_000
/** The loop that reads them is critical, and the pool allows a statement more time than a round has. */
const CHANGES_STATEMENT_MS = 5_000

type VerdictContext = {
  db: Db
  /** a pool for leases, so that they never wait for a connection; defaults to `db` */
  leases?: Db
  nats: Nats
  log: Log
  metrics: Metrics
  /** address of the dashboard, without a trailing slash */
  publicUrl: string
  /** learns PostgreSQL's time from what the role reads anyway */
  clocks?: Pick<EngineClocks, 'learnPostgres'>
  storeCertificates: ReaderTools['storeCertificates']
}

type VerdictWorker = {
  /** To be called when monitors have changed (NOTIFY `monitors`): reads them now instead of within two seconds. */
  wake(): void
  /** Stores what has been counted and releases the partitions. */
  stop(): Promise<void>
}

type VerdictState = {
  db: Db
  leases: Db
  /** the owner of the leases of this process */
  me: string
  tools: ReaderTools
  /** by partition */
  readers: Map<number, PartitionReader>
  /** the history of PostgreSQL that is followed */
  history: HistoryPosition
  /** changes of monitors up to this revision are known to the readers */
  revision: number
  reach: NatsReachability
  /** the partitions of this process, and until when their leases last at least, by the monotonic clock */
  holding: { ids: number[]; untilMs: number }
  /** Renews the ownership now. */
  wakeOwnership(): void
}

/**
 * Starts the role `verdict`: owns a share of the partitions and reads them (docs/design/results.md#partitions). Any
 * number of processes may have the role; each partition has one reader at a time.
 */
export async function startVerdictWorker(context: VerdictContext): Promise<VerdictWorker> {
  const { db, leases = db, log, metrics } = context
  let followHistory: (now: HistoryPosition) => void = () => {}
  const state: VerdictState = {
    db,
    leases,
    me: newId(),
    tools: await createReaderTools(context, now => followHistory(now)),
    readers: new Map(),
    history: await getHistoryPosition(db),
    revision: await getLatestRevision(db),
    reach: { answeredMs: monotonicMs(), sinceMs: Number.NEGATIVE_INFINITY },
    holding: { ids: [], untilMs: Number.NEGATIVE_INFINITY },
    wakeOwnership: () => ownership.wake(),
  }
  metrics.beforeRender(() => state.tools.metrics.owned.set(countPartitionsRead(state)))
  const { tools, readers } = state
  const start = (
    name: string,
    intervalMs: number,
    round: (signal: AbortSignal) => Promise<void>,
    limits?: LoopLimits,
  ) => startLoop(name, intervalMs, { log, metrics }, round, limits)
  const ownership = start('verdict-ownership', OWNERSHIP_INTERVAL_MS, () => updateOwnership(state), CRITICAL)
  const monitors = start('verdict-monitors', FOLLOW_INTERVAL_MS, signal => followMonitors(state, signal), CRITICAL)
  followHistory = now => {
    if (isBehind(state, now)) monitors.wake()
  }
  const stream = start('verdict-stream', STREAM_INTERVAL_MS, () => checkStream(state), CRITICAL)
  const parents = start('verdict-parents', PARENTS_INTERVAL_MS, () => refreshParents(tools, db))
  const liveSets = start('verdict-live-sets', LIVE_SETS_INTERVAL_MS, () => refreshLiveSets(tools))
  const seen: LagState = { caughtUpWith: null }
  const findPosition = (id: number) => readers.get(id)?.position() ?? null
  const arrivals: RegionPositions = new Map()
  const regions = start('verdict-regions', ARRIVALS_INTERVAL_MS, async () => {
    if (readers.size < PARTITIONS) await updateArrivals(tools, arrivals)
    else arrivals.clear()
  })
  const lag = start('verdict-lag', LAG_INTERVAL_MS, () => measureLag(tools, findPosition, seen))
  return {
    wake: monitors.wake,
    async stop() {
      await Promise.all([ownership, monitors, stream, parents, liveSets, regions, lag].map(loop => loop.stop()))
      await Promise.all([...readers.values()].map(reader => reader.stop()))
      await releasePartitions(leases, state.me)
    },
  }
}

async function createReaderTools(
  context: VerdictContext,
  followHistory: (now: HistoryPosition) => void,
): Promise<ReaderTools> {
  const { db, log } = context
  const metrics = createVerdictMetrics(context.metrics)
  return {
    ...context,
    metrics,
    setAside(what, message, details) {
      metrics.setAside.inc({ what })
      log.error(details, message)
    },
    parents: new Set(await listAllParentIds(db)),
    liveSets: await createKnownLiveSets({ ...context, followHistory }),
    regionCoverage: createRegionCoverage(),
  }
}

/** Renews the leases of partitions whose readers work, takes more up to the share, and runs a reader for each. */
async function updateOwnership(state: VerdictState): Promise<void> {
  const { leases, me, tools, readers } = state
  const silent = [...readers.values()].filter(reader => !reader.isReading()).map(reader => reader.id)
  const complete = [...readers.values()].flatMap(({ id, epoch, completeMs }) => {
    const ms = completeMs()
    return ms === null ? [] : { id, epoch, ms }
  })
  const renewedMs = monotonicMs()
  const holdings = await renewLeases(leases, me, silent, LEASE_MS, complete)
  const mayTake = silent.length === 0 && isStableReachable(state.reach, monotonicMs())
  const owned = mayTake ? await takeShare(leases, me, holdings) : filterOwned(holdings, me)
  matchReaders(readers, owned, tools, state.wakeOwnership)
  state.holding = { ids: owned.map(({ id }) => id), untilMs: renewedMs + LEASE_MS }
}

/** None when the leases could not be renewed in time, as without PostgreSQL: nothing that is read is decided. */
const countPartitionsRead = ({ holding, readers }: VerdictState): number =>
  monotonicMs() < holding.untilMs ? holding.ids.filter(id => readers.get(id)?.isReading()).length : 0

const isBehind = ({ history, revision }: VerdictState, now: HistoryPosition): boolean =>
  isDifferentHistory(now, history, revision) || now.revision > revision

/** Passes changes of monitors to the readers. After a restore of PostgreSQL they begin again. */
async function followMonitors(state: VerdictState, signal: AbortSignal): Promise<void> {
  const { db, leases, tools, readers } = state
  const history = await getHistoryPosition(leases)
  if (isDifferentHistory(history, state.history, state.revision)) {
    const { revision } = state
    tools.log.warn({ revision }, 'PostgreSQL was restored or failed over; reading all partitions again')
    state.revision = await getLatestRevision(leases)
    for (const reader of readers.values()) reader.restart()
  }
  state.history = history
  while (history.revision > state.revision && !signal.aborted) {
    const changed = await db.transaction(async tx => {
      await setStatementTimeout(tx, CHANGES_STATEMENT_MS)
      return listChangedMonitors(tx, state.revision, CHANGES_PER_QUERY)
    })
    for (const { id, partition } of changed) readers.get(partition)?.markStale([id])
    state.revision = changed.at(-1)?.revision ?? state.revision
    if (changed.length < CHANGES_PER_QUERY) return
  }
}

/** Restarts readers whose stream was replaced, and opens silent consumers again. */
async function checkStream(state: VerdictState): Promise<void> {
  const stream = await loadStreamState(state.tools.nats, RESULTS_STREAM)
  state.reach = recordAnswer(state.reach, monotonicMs())
  for (const reader of state.readers.values()) {
    if (reader.isStreamReplaced(stream)) reader.restart()
    // NATS answers, so only this consumer is silent: the client library does not always recover it
    else if (!reader.isReading()) reader.reopen()
  }
}

async function refreshParents(tools: ReaderTools, db: Db): Promise<void> {
  tools.parents = new Set(await listAllParentIds(db))
}

async function refreshLiveSets({ liveSets, regionCoverage }: ReaderTools): Promise<void> {
  await liveSets.refresh()
  const { absences } = liveSets.absences()
  const isGone = (region: string) => isRegionGone(liveSets.of(region), absences, region)
  updateRegionCoverage(regionCoverage, REGIONS, isGone, monotonicMs())
}

/** Takes partitions up to the share of this process. Returns the ones that it owns then. */
async function takeShare(db: Db, me: string, holdings: PartitionLease[]): Promise<{ id: number; epoch: number }[]> {
  const wanted = selectPartitionsToTake(holdings, me)
  if (wanted.length === 0) return filterOwned(holdings, me)
  await takePartitions(db, me, wanted, LEASE_MS)
  return listOwnedPartitions(db, me)
}

const filterOwned = (holdings: PartitionLease[], me: string) => holdings.filter(({ owner }) => owner === me)

/**
 * Runs a reader for each owned partition and epoch. A new reader of a partition starts after the old one has stopped.
 */
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
    const reader = startPartitionReader(partition, tools, () => {
      readers.delete(partition.id)
      onEnd()
    })
    readers.set(partition.id, reader)
  }
}
