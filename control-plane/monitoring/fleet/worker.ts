import { FleetService } from '../../../proto/gen/probe/v1/fleet.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { coalesce } from '../../foundation/platform/concurrency/coalesce.ts'
import { limitConcurrency } from '../../foundation/platform/concurrency/concurrency-limit.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { connectAccountPublisher, type NatsAccountPublisher } from '../../foundation/platform/nats/account-publisher.ts'
import { jetstreamNowMs, type Nats } from '../../foundation/platform/nats/client.ts'
import { type GrpcTls, startGrpcServer } from '../../foundation/platform/network/grpc-server.ts'
import { isLoopback } from '../../foundation/platform/network/loopback.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { StaleConnectionSignal } from '../../foundation/platform/postgres/dead-connections.ts'
import { listenForNotifications } from '../../foundation/platform/postgres/listener.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'
import { CRITICAL, startLoop } from '../../foundation/platform/time/loop.ts'
import { createAssignmentTable } from './assignments/assignment-table.ts'
import { createMonitorSync } from './assignments/monitor-index-actions.ts'
import type { FleetContext } from './context.ts'
import { loadEpochs, reconcileEpoch } from './live-sets/epoch-actions.ts'
import { admitProbes, createRound } from './live-sets/round-actions.ts'
import { markDisconnected } from './live-sets/store.ts'
import { createFleetMetrics } from './metrics.ts'
import { startAccessWorker } from './probes/access-worker.ts'
import { createCallerAuthentication, MAX_KNOWN_CREDENTIALS } from './probes/caller-actions.ts'
import { authenticateProbe } from './probes/enrolment-actions.ts'
import { listCredentialHashes } from './probes/enrolment-store.ts'
import { createFleetHandlers } from './sessions/grpc.ts'
import { startHintReader } from './sessions/hint-reader.ts'
import { FLEET_TIMING, type FleetTiming } from './timing.ts'
import { updateFleetMetrics } from './update-metrics.ts'

type FleetOptions = {
  db: Db
  /** for probes that connect */
  admissionsDb: Db
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
const MONITORS_LIMITS = { isCritical: true, timeoutMs: 120_000 }
/** Rounds find what a lost notification hides; monitors and epochs are also read by themselves, this much more rarely. */
const READ_EVERY_POLLS = 15
const STOP_TIMEOUT_MS = 2_000

/** A request for a round, which is kept until a round takes it, and the loops that follow what rounds read. */
type RoundRequest = {
  isPending: boolean
  wakeLoop(): void
  wakeMonitors(): void
  followRevoked: FleetContext['followRevoked']
}

/**
 * Starts the role `fleet` (docs/design/assignments.md): loads every monitor, then serves probes, follows changes of
 * monitors, and maintains the live sets. Throws when the port is in use or the database does not respond. `stop` ends the
 * streams with a status that makes probes reconnect.
 */
export async function startFleet(options: FleetOptions): Promise<{ port: number; stop(): Promise<void> }> {
  const [wakeLoop, wakeMonitors, followRevoked] = [() => {}, () => {}, () => {}]
  const request: RoundRequest = { isPending: false, wakeLoop, wakeMonitors, followRevoked }
  const context = await createContext(options, request)
  await context.syncMonitors()
  await loadEpochs(context)
  const { operator, url } = options.nats
  const accounts = operator && (await connectAccountPublisher(url, operator, () => jetstreamNowMs(options.nats)))
  const server = await openPort(options, context).catch(async error => {
    await accounts?.close()
    throw error
  })
  options.metrics.beforeRender(() => updateFleetMetrics(context, monotonicMs()))
  const hints = startHintReader(context)
  const loops = startLoops(options, context, accounts, request)
  return {
    port: server.port,
    async stop() {
      context.isStopping = true
      hints.stop()
      await loops.stop()
      await accounts?.close()
      for (const session of [...context.sessions.values()]) session.close('stopping')
      await server.stop(STOP_TIMEOUT_MS)
      await markDisconnected(context.db, context.endedConnections.splice(0))
    },
  }
}

async function createContext(options: FleetOptions, request: RoundRequest): Promise<FleetContext> {
  const admissions = new Map<string, () => Promise<void>>()
  const { sync, isBehind } = createMonitorSync(() => context)
  let followedMs = monotonicMs()
  const metrics = createFleetMetrics(options.metrics)
  const context: FleetContext = {
    ...options,
    timing: options.timing ?? FLEET_TIMING,
    assignments: createAssignmentTable(),
    sessions: new Map(),
    runs: new Map(),
    authenticate: createCallerAuthentication({
      authenticate: credentials => authenticateProbe(options.admissionsDb, credentials),
      known: await listCredentialHashes(options.admissionsDb, MAX_KNOWN_CREDENTIALS),
      metrics,
    }),
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
      request.isPending = true
      request.wakeLoop()
    },
    followHistory(now) {
      const atMs = monotonicMs()
      // rounds are not exact, and some are requested
      if (atMs - followedMs < context.timing.monitorPollIntervalMs / 2) return
      followedMs = atMs
      if (isBehind(now)) request.wakeMonitors()
    },
    followRevoked: probeIds => request.followRevoked(probeIds),
    syncMonitors: coalesce(sync),
    runSerially: limitConcurrency(1),
  }
  return context
}

/** Serves probes. Logs a warning when their connections are not encrypted. Throws when the port is in use. */
async function openPort(options: FleetOptions, context: FleetContext): ReturnType<typeof startGrpcServer> {
  const { host, port, tls, reflection, connectionsPerAddress } = options
  const server = await startGrpcServer({
    host,
    port,
    tls,
    reflection,
    service: FleetService,
    implementation: createFleetHandlers(context),
    protoFile: 'probe/v1/fleet.proto',
    limits: { maxPerAddress: connectionsPerAddress, firstCallTimeoutMs: context.timing.firstCallTimeoutMs },
    onRefused: why => context.metrics.refused.inc({ why }),
  })
  if (tls === null && !isLoopback(host)) {
    options.log.warn('probes connect without TLS, so the secrets of monitors are sent in plain text; set GRPC_TLS_CERT')
  }
  return server
}

/** Starts the loops of the role. NOTIFY wakes those that follow the database. */
function startLoops(
  options: FleetOptions,
  context: FleetContext,
  accounts: NatsAccountPublisher | null,
  request: RoundRequest,
): { stop(): Promise<void> } {
  const { roundIntervalMs, monitorPollIntervalMs } = context.timing
  const round = createRound(context, () => takeRequest(request))
  const rounds = startLoop('fleet_links', roundIntervalMs, options, round, CRITICAL)
  request.wakeLoop = rounds.wake
  const sync = () => context.syncMonitors()
  const fallbackMs = READ_EVERY_POLLS * monitorPollIntervalMs
  const monitors = startLoop('fleet_monitors', fallbackMs, options, sync, MONITORS_LIMITS)
  request.wakeMonitors = monitors.wake
  const epochs = startLoop('fleet_epochs', fallbackMs, options, () => loadEpochs(context), CRITICAL)
  const access = startAccessWorker(context, options, accounts)
  request.followRevoked = access.follow
  const followers = { monitors, region_epochs: epochs, probes_revoked: access }
  const listener = listenForNotifications(
    options.databaseUrl,
    Object.keys(followers),
    channel => followers[channel as keyof typeof followers].wake(),
    options.log,
    options,
  )
  return {
    async stop() {
      await Promise.all([listener.stop(), rounds.stop(), monitors.stop(), epochs.stop(), access.stop()])
    },
  }
}

function takeRequest(request: RoundRequest): boolean {
  const { isPending } = request
  request.isPending = false
  return isPending
}
