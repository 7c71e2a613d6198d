import { FleetService } from '../../../proto/gen/probe/v1/fleet.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { coalesce } from '../../foundation/platform/concurrency/coalesce.ts'
import { limitConcurrency } from '../../foundation/platform/concurrency/concurrency-limit.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { connectAccountPublisher } from '../../foundation/platform/nats/account-publisher.ts'
import { jetstreamNowMs, type Nats } from '../../foundation/platform/nats/client.ts'
import { type GrpcTls, startGrpcServer } from '../../foundation/platform/network/grpc-server.ts'
import { isLoopback } from '../../foundation/platform/network/loopback.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { StaleConnectionSignal } from '../../foundation/platform/postgres/dead-connections.ts'
import { listenForNotifications } from '../../foundation/platform/postgres/listener.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { CRITICAL, startLoop } from '../../foundation/platform/time/loop.ts'
import {
  countByRegion,
  createAssignmentTable,
  getRegionPlan,
  type RegionEpoch,
} from './assignments/assignment-table.ts'
import { createMonitorSync } from './assignments/monitor-index-actions.ts'
import { getOwnedMonitors } from './assignments/region-plan.ts'
import type { FleetContext } from './context.ts'
import { type LiveSetListener, updateLiveSets } from './live-sets/actions.ts'
import { applyEpochs, loadEpochs, reconcileEpoch } from './live-sets/epoch-actions.ts'
import { createRegionAbsenceRecorder, type RegionAbsenceRecorder } from './live-sets/region-absence-actions.ts'
import { markDisconnected, recordActivity, recordRegionCounts } from './live-sets/store.ts'
import { createFleetMetrics } from './metrics.ts'
import { expireRuns } from './on-demand/in-flight-runs.ts'
import { startAccessWorker } from './probes/access-worker.ts'
import { createFleetHandlers } from './sessions/grpc.ts'
import { startHintReader } from './sessions/hint-reader.ts'
import type { ProbeSession } from './sessions/session.ts'
import { FLEET_TIMING, type FleetTiming } from './timing.ts'
import { updateFleetMetrics } from './update-metrics.ts'

type FleetOptions = {
  db: Db
  /** for LISTEN */
  databaseUrl: string
  suspicion?: StaleConnectionSignal
  nats: Nats
  secrets: SecretCipher
  log: Log
  metrics: Metrics
  /** shown to people, in `probes.connected_to` */
  processName: string
  /** where probes connect; port 0: any free port */
  host: string
  port: number
  /** null: in plain text */
  tls: GrpcTls | null
  /** whether clients can list the services of the port (gRPC reflection) */
  reflection: boolean
  /** maximum number of open connections of one client address */
  connectionsPerAddress: number
  /** where probes publish their results, as they see it */
  natsUrl: string
  timing?: FleetTiming
}

/** A change of all monitors is read page by page, which may take long. */
const MONITORS_LIMITS = { isCritical: true, limitMs: 120_000 }
const STOP_TIMEOUT_MS = 2_000

/**
 * Starts the role `fleet` (docs/design/assignments.md): loads every monitor, then serves probes, follows changes of
 * monitors, and maintains the live sets. Throws when the port is in use or the database does not respond. `stop` ends the
 * streams with a status that makes probes reconnect.
 */
export async function startFleet(options: FleetOptions): Promise<{ port: number; stop(): Promise<void> }> {
  const metrics = createFleetMetrics(options.metrics)
  const admissions = new Map<string, () => Promise<void>>()
  let isWoken = false
  const takeWake = () => {
    const wasWoken = isWoken
    isWoken = false
    return wasWoken
  }
  const context: FleetContext = {
    ...options,
    timing: options.timing ?? FLEET_TIMING,
    assignments: createAssignmentTable(),
    sessions: new Map(),
    runs: new Map(),
    metrics,
    isStopping: false,
    endedConnections: [],
    admit(region) {
      const admit = admissions.get(region) ?? coalesce(() => admitProbes(context, region))
      admissions.set(region, admit)
      return admit()
    },
    reconcileEpoch: (region, epoch) => reconcileEpoch(context, region, epoch),
    wake() {
      isWoken = true
      rounds.wake()
    },
    syncMonitors: coalesce(createMonitorSync(() => context)),
    runSerially: limitConcurrency(1),
  }
  await context.syncMonitors()
  await loadEpochs(context)
  const { operator, servers } = options.nats
  const accounts = operator && (await connectAccountPublisher(servers, operator, () => jetstreamNowMs(options.nats)))
  const server = await startGrpcServer({
    host: options.host,
    port: options.port,
    tls: options.tls,
    service: FleetService,
    implementation: createFleetHandlers(context),
    protoFile: 'probe/v1/fleet.proto',
    reflection: options.reflection,
    limits: { maxPerAddress: options.connectionsPerAddress, firstCallTimeoutMs: context.timing.firstCallTimeoutMs },
    onRefused: why => metrics.refused.inc({ why }),
  }).catch(async error => {
    await accounts?.close()
    throw error
  })
  if (options.tls === null && !isLoopback(options.host)) {
    options.log.warn('probes connect without TLS, so the secrets of monitors are sent in plain text; set GRPC_TLS_CERT')
  }

  options.metrics.beforeRender(() => updateFleetMetrics(context, monotonicMs()))
  const hints = startHintReader(context)
  const rounds = startLoop(
    'fleet_links',
    context.timing.roundIntervalMs,
    options,
    createRound(context, takeWake),
    CRITICAL,
  )
  const monitors = startLoop(
    'fleet_monitors',
    context.timing.monitorPollIntervalMs,
    options,
    () => context.syncMonitors(),
    MONITORS_LIMITS,
  )
  const epochs = startLoop(
    'fleet_epochs',
    5 * context.timing.monitorPollIntervalMs,
    options,
    () => loadEpochs(context),
    CRITICAL,
  )
  const access = startAccessWorker(context, options, accounts)
  const loops = { monitors, region_epochs: epochs, probes_revoked: access }
  const listener = listenForNotifications(
    options.databaseUrl,
    Object.keys(loops),
    channel => loops[channel as keyof typeof loops].wake(),
    options.log,
    options,
  )
  return {
    port: server.port,
    async stop() {
      context.isStopping = true
      hints.stop()
      await Promise.all([listener.stop(), rounds.stop(), monitors.stop(), epochs.stop(), access.stop()])
      await accounts?.close()
      for (const session of [...context.sessions.values()]) session.close('stopping')
      await server.stop(STOP_TIMEOUT_MS)
      await markDisconnected(context.db, context.endedConnections.splice(0))
    },
  }
}

/** Adds the new probes of a region that can start immediately to its live set. */
async function admitProbes(context: FleetContext, region: string): Promise<void> {
  await updateLiveSets(context.db, context.timing, { region, canEvict: false, knownEpoch: createEpochLookup(context) })
  await loadEpochs(context, region)
}

const createEpochLookup = (context: FleetContext) => (region: string) =>
  getRegionPlan(context.assignments, region).epoch

/** Builds a round: it closes silent sessions, records the activity of probes, and evicts and adds live probes. */
function createRound(context: FleetContext, takeWake: () => boolean): () => Promise<void> {
  const { timing } = context
  // since when all activity was recorded in time; only after that an old `last_seen_at` means a silent probe (live-set.ts)
  let recordsCompleteSinceMs = monotonicMs()
  let recordedMs = monotonicMs()
  const unassigned = new Map<string, number>()
  const recordAbsences = createRegionAbsenceRecorder(context)
  // in every second round, and in each requested one; `admit` adds a new probe without waiting for a round
  let isUpdateDue = true
  const counts = createCountRecorder(context)
  return async () => {
    const startedMs = monotonicMs()
    const isUpdate = takeWake() || isUpdateDue
    // again in the next round, unless this one succeeds
    isUpdateDue = true
    for (const session of [...context.sessions.values()]) {
      if (startedMs - session.lastMessageMs > timing.deadAfterMs) session.close('silent')
    }
    await recordSessions(context, startedMs)
    await counts()
    if (monotonicMs() - recordedMs > timing.deadAfterMs / 2) recordsCompleteSinceMs = monotonicMs()
    recordedMs = monotonicMs()
    const canEvict = recordedMs - recordsCompleteSinceMs > timing.deadAfterMs
    if (isUpdate) {
      await refreshLiveSets(context, canEvict, recordAbsences)
      isUpdateDue = false
    }
    expireRuns(context.runs, monotonicMs())
    reportUnassigned(context, unassigned)
  }
}

async function refreshLiveSets(
  context: FleetContext,
  canEvict: boolean,
  recordAbsences: RegionAbsenceRecorder,
): Promise<void> {
  let read: readonly RegionEpoch[] = []
  const onRead: LiveSetListener = async (rows, probes) => {
    read = rows
    await recordAbsences(
      rows.map(({ region }) => region),
      probes,
    )
  }
  const changed = await updateLiveSets(context.db, context.timing, {
    canEvict,
    knownEpoch: createEpochLookup(context),
    onRead,
  })
  if (changed.length === 0) return applyEpochs(context, read)
  context.log.info({ regions: changed }, 'live sets changed')
  await loadEpochs(context)
}

/** Unchanged counts are written again after this time, because another process or a restore may have changed the rows. */
const RECORD_COUNTS_INTERVAL_MS = 10_000

function createCountRecorder({ db, assignments: table }: FleetContext): () => Promise<void> {
  let recorded = ''
  let atMs = Number.NEGATIVE_INFINITY
  return async () => {
    const counts = countByRegion(table)
    const text = JSON.stringify(counts)
    if (text === recorded && monotonicMs() - atMs < RECORD_COUNTS_INTERVAL_MS) return
    await recordRegionCounts(db, counts)
    recorded = text
    atMs = monotonicMs()
  }
}

/** Logs once that no live probe of a region can check some of its monitors, and again when their number grows. */
function reportUnassigned({ assignments: table, log }: FleetContext, reported: Map<string, number>): void {
  for (const [region, { probes, unassigned }] of table.plans) {
    const monitors = probes.length > 0 ? unassigned.size : 0
    if (monitors > (reported.get(region) ?? 0)) {
      log.warn({ region, monitors }, 'no live probe of the region can check these monitors; upgrade its probes')
    }
    reported.set(region, monitors)
  }
}

async function recordSessions(context: FleetContext, atMs: number): Promise<void> {
  const due = [...context.sessions.values()].filter(
    session =>
      session.lastMessageMs > session.recordedMs && atMs - session.recordedMs >= context.timing.heartbeatIntervalMs,
  )
  if (due.length > 0) {
    const lost = await recordActivity(
      context.db,
      due.map(session => toProbeActivity(context, session, atMs)),
    )
    for (const session of due) {
      const reason = lost.get(session.probeId)
      if (reason) session.close(reason)
      else session.recordedMs = atMs
    }
  }
  const ended = [...context.endedConnections]
  if (ended.length === 0) return
  await markDisconnected(context.db, ended)
  context.endedConnections.splice(0, ended.length)
}

function toProbeActivity({ assignments: table }: FleetContext, session: ProbeSession, atMs: number) {
  const assignments = getOwnedMonitors(getRegionPlan(table, session.region), session.probeId).size
  return {
    id: session.probeId,
    connectedTo: session.connectedTo,
    silentMs: Math.max(0, atMs - session.lastMessageMs),
    health: session.health && { ...session.health, assignments },
  }
}
