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

export type FleetOptions = {
  db: Db
  /** for LISTEN */
  databaseUrl: string
  suspicion?: StaleConnectionSignal
  nats: Nats
  secrets: SecretCipher
  log: Log
  metrics: Metrics
  /** for people; shown as `probes.connected_to` */
  processName: string
  /** where probes connect; port 0: any free one */
  host: string
  port: number
  /** null: in plain text */
  tls: GrpcTls | null
  /** everyone who reaches the port may ask what it serves */
  reflection: boolean
  /** of one client address at a time */
  connectionsPerAddress: number
  /** where probes publish their results, as they see it */
  natsUrl: string
  timing?: FleetTiming
}

/** A change of all monitors is read page by page. */
const MONITORS_LIMITS = { isCritical: true, limitMs: 120_000 }
const STOP_TIMEOUT_MS = 2_000

/**
 * The role `fleet`: loads every monitor, then serves probes, follows changes, and keeps the live sets (decisions 11.1).
 * Throws when the port is taken or the database does not answer. `stop` ends the streams so that probes come back later.
 */
export async function startFleet(options: FleetOptions): Promise<{ port: number; stop(): Promise<void> }> {
  const metrics = createFleetMetrics(options.metrics)
  const admissions = new Map<string, () => Promise<void>>()
  let isWoken = false
  const takeWake = () => {
    const was = isWoken
    isWoken = false
    return was
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
    options.log.warn('probes connect in plain text, with the secrets of monitors on the way: set GRPC_TLS_CERT')
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

/** New probes of a region that can work at once do. */
async function admitProbes(context: FleetContext, region: string): Promise<void> {
  await updateLiveSets(context.db, context.timing, { region, canEvict: false, knownEpoch: createEpochLookup(context) })
  await loadEpochs(context, region)
}

const createEpochLookup = (context: FleetContext) => (region: string) =>
  getRegionPlan(context.assignments, region).epoch

/** Closes dead sessions, writes down who was heard, and buries or lets in probes. */
function createRound(context: FleetContext, takeWake: () => boolean): () => Promise<void> {
  const { timing } = context
  // since when everything heard was written down in time: only then is an old `last_seen_at` a dead probe (live-set.ts)
  let soundSinceMs = monotonicMs()
  let recordedMs = monotonicMs()
  const unassigned = new Map<string, number>()
  const noteAbsences = createRegionAbsenceRecorder(context)
  // in every second round, and in one that was asked for; a new probe is let in at once, by `admit`
  let isLookDue = true
  const counts = createCountRecorder(context)
  return async () => {
    const startedMs = monotonicMs()
    const isLook = takeWake() || isLookDue
    // in the next round again, unless this one succeeds
    isLookDue = true
    for (const session of [...context.sessions.values()]) {
      if (startedMs - session.lastMessageMs > timing.deadAfterMs) session.close('silent')
    }
    await recordSessions(context, startedMs)
    await counts()
    if (monotonicMs() - recordedMs > timing.deadAfterMs / 2) soundSinceMs = monotonicMs()
    recordedMs = monotonicMs()
    const canEvict = recordedMs - soundSinceMs > timing.deadAfterMs
    if (isLook) {
      await refreshLiveSets(context, canEvict, noteAbsences)
      isLookDue = false
    }
    expireRuns(context.runs, monotonicMs())
    reportUnassigned(context, unassigned)
  }
}

async function refreshLiveSets(
  context: FleetContext,
  canEvict: boolean,
  noteAbsences: RegionAbsenceRecorder,
): Promise<void> {
  let read: readonly RegionEpoch[] = []
  const onRead: LiveSetListener = async (rows, probes) => {
    read = rows
    await noteAbsences(
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
  context.log.info({ regions: changed }, 'other probes are live now')
  await loadEpochs(context)
}

/** Other processes write the same; what they or a restore of the database changed is written again. */
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

/** Says once when a region has probes and monitors that none of them can check, and again when they become more. */
function reportUnassigned({ assignments: table, log }: FleetContext, reported: Map<string, number>): void {
  for (const [region, { probes, unassigned }] of table.plans) {
    const monitors = probes.length > 0 ? unassigned.size : 0
    if (monitors > (reported.get(region) ?? 0)) {
      log.warn({ region, monitors }, 'no live probe of the region can check these monitors: upgrade its probes')
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
