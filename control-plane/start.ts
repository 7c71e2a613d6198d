import type { AddressInfo } from 'node:net'
import { createEgress, createResolver } from '../shared/egress/index.ts'
import { SCREENSHOTS_BUCKET } from '../shared/nats/subjects.ts'
import { ConfigError } from '../shared/process/env.ts'
import type { Log } from '../shared/process/log.ts'
import { createMetrics, type Metrics } from '../shared/process/metrics.ts'
import { createAuthenticator, createCallerReader } from './accounts/api-keys/actions.ts'
import { REGISTRATION_MODE_MESSAGES } from './accounts/registration/registration-mode.ts'
import { createSessionAuthenticator, createSessionFinder } from './accounts/sessions/actions.ts'
import type { Config, ProcessRole } from './config.ts'
import { pingClickhouse } from './foundation/platform/clickhouse.ts'
import { createSecretCipher } from './foundation/platform/crypto/encryption.ts'
import { createSigner } from './foundation/platform/crypto/signer.ts'
import { createMailer } from './foundation/platform/mail/mailer.ts'
import type { Nats } from './foundation/platform/nats/client.ts'
import { findNatsWarning } from './foundation/platform/nats/server-version.ts'
import { startStreamsWorker } from './foundation/platform/nats/streams-worker.ts'
import { isLoopback } from './foundation/platform/network/loopback.ts'
import { createNatsObjectStore, type ObjectStore } from './foundation/platform/object-storage/nats-bucket.ts'
import { createS3ObjectStore } from './foundation/platform/object-storage/s3-bucket.ts'
import { pingPrimary } from './foundation/platform/postgres/client.ts'
import { listenForNotifications } from './foundation/platform/postgres/listener.ts'
import { sleep } from './foundation/platform/time/clock.ts'
import { startEngineClocks } from './foundation/platform/time/engine-clocks.ts'
import { startWatchdog, type Watchdog } from './foundation/platform/time/watchdog.ts'
import { createIsAcceptedHost } from './foundation/web/server/accepted-hosts.ts'
import { API_PREFIX, type App, createApp } from './foundation/web/server/app.ts'
import { createOperatorApp } from './foundation/web/server/operator-app.ts'
import { livenessRoutes, type ProcessStatus, processRoutes } from './foundation/web/server/process-routes.ts'
import { addScope } from './foundation/web/server/scope.ts'
import { createLive } from './insight/live/live-worker.ts'
import { assertSecretKey } from './operations/admin/key-check-store.ts'
import { healthRoutes } from './operations/health/routes.ts'
import { apiRoutes, operatorRoutes, publicRoutes } from './operations/roles/api-routes.ts'
import type { ProcessContext } from './operations/roles/context.ts'
import { connectToNats, migrateDatabase, prepareStreams } from './operations/roles/engines.ts'
import { openHistory } from './operations/roles/history.ts'
import { createPools } from './operations/roles/pools.ts'
import { ROLE_STARTERS, type RoleComponent } from './operations/roles/roles.ts'
import { API_TIME_LIMITS, type ApiTimeLimits } from './operations/roles/time-limits.ts'
import { listOwnHosts } from './operations/roles/tools.ts'

type ControlPlane = {
  httpPort: number
  operatorPort: number
  grpcPort: number | null
  /** Resolves to the critical loops that are stuck; the process must then exit. */
  stuck: Promise<string[]>
  stop(): Promise<void>
}

type StartOptions = {
  /** aborted when the process is to stop before it has started: ends a migration that waits for a lock */
  stopping?: AbortSignal
  /** a shorter limit for rounds of critical loops */
  maxRoundMs?: number
  apiTimeLimits?: ApiTimeLimits
  /** another port at which custom domains have their certificates, and authorities that are trusted besides the public ones */
  https?: { port: number; trust?: string[] }
}

/** What was opened, and how it is closed. `of` names it in the log. */
type Release = { of: string; release: () => Promise<unknown> }

const STOP_TIMEOUT_MS = 10_000
const PING_TIMEOUT_MS = 5_000

/**
 * Starts the control plane from bottom to top: schema, engines, roles, HTTP (docs/design/loops.md#start-and-stop). Throws a
 * ConfigError with one sentence when something required cannot be reached or opened; then nothing is left running.
 */
export async function start(config: Config, log: Log, options: StartOptions = {}): Promise<ControlPlane> {
  const releases: Release[] = []
  const release = () => releaseAll(releases, log)
  try {
    const handles = await connectEngines(config, log, releases, options)
    const watched = watchLoops(handles.metrics, options)
    releases.push({ of: 'watchdog', release: async () => watched.watchdog.stop() })
    const parts: RoleComponent[] = []
    // in parallel, so that a stuck component does not prevent the others from releasing their leases
    releases.push({ of: 'roles', release: () => Promise.all(parts.map(part => stopPart(part, log))) })
    for (const role of config.roles) {
      for (const startPart of ROLE_STARTERS[role]) parts.push(await startPart(selectHandles(handles, role)))
    }
    const { suspicion } = handles.pools
    const onNotify = (channel: string, payload: string) => notify(parts, channel, payload)
    const listener = listenForNotifications(config.databaseUrl, listChannels(parts), onNotify, log, { suspicion })
    releases.push({ of: 'PostgreSQL listener', release: () => listener.stop() })

    const app = await createHttp(handles, watched.watchdog)
    releases.push({ of: 'HTTP server', release: () => app.close() })
    const httpPort = await openPort(app, config.host, config.port)
    // after the first port, because /readyz means that requests may be sent there
    const operatorApp = createOperatorHttp(handles, watched.watchdog)
    releases.push({ of: 'operator HTTP server', release: () => operatorApp.close() })
    const operatorPort = await openPort(operatorApp, config.operatorHost, config.operatorPort, 'OPERATOR_')
    const grpcPort = parts.find(part => part.grpcPort)?.grpcPort ?? null
    const ports = { http_port: httpPort, operator_port: operatorPort, grpc_port: grpcPort }
    log.info({ event: 'ready', ...ports, roles: config.roles }, 'ready')
    return { httpPort, operatorPort, grpcPort, stuck: watched.stuck, stop: release }
  } catch (error) {
    await release()
    throw error
  }
}

/** The handles with the connections of a role. */
const selectHandles = (handles: ProcessContext, role: ProcessRole): ProcessContext => ({
  ...handles,
  db: handles.pools.forRole(role),
  clickhouse: handles.history.forRole(role),
})

function watchLoops(metrics: Metrics, { maxRoundMs }: StartOptions) {
  let report: (loops: string[]) => void = () => {}
  const stuck = new Promise<string[]>(resolve => {
    report = resolve
  })
  return { stuck, watchdog: startWatchdog(metrics, loops => report(loops), maxRoundMs) }
}

const stopPart = (part: RoleComponent, log: Log) =>
  part.stop().catch(error => log.warn({ err: error }, 'could not stop a component'))

async function connectEngines(
  config: Config,
  log: Log,
  releases: Release[],
  { apiTimeLimits = API_TIME_LIMITS, https = { port: 443 }, stopping }: StartOptions,
): Promise<ProcessContext> {
  const { egressAllow, visitorEgressAllow, egressDeny: deny, nameservers } = config
  const resolving = nameservers.length > 0 && { nameservers, resolver: createResolver({ servers: nameservers }) }
  const egress = createEgress({ allow: egressAllow, deny, trust: https.trust, ...resolving })
  const visitorEgress = createEgress({ allow: visitorEgressAllow, deny, ...resolving })
  const metrics = createMetrics()
  const mailer = config.smtpUrl === null ? null : createMailer(config.smtpUrl, config.mailFrom)
  releases.push({ of: 'mailer', release: async () => mailer?.close() })
  await migrateDatabase(config, log, stopping)
  const pools = createPools(config.databaseUrl, config.roles, metrics, apiTimeLimits)
  releases.push({ of: 'PostgreSQL pools', release: () => pools.destroy() })
  const secrets = createSecretCipher(config.secretKey, config.olderSecretKey)
  await assertSecretKey(pools.leases, secrets)

  const nats = await connectToNats(config)
  releases.push({ of: 'NATS', release: () => nats.close() })
  const warning = findNatsWarning(nats.connection.info?.version ?? '')
  if (warning) log.warn({ event: 'old_nats' }, warning)
  await prepareStreams(config, nats, log)
  const streams = startStreamsWorker({ nats, log, metrics }, config.streams)
  releases.push({ of: 'streams of NATS', release: () => streams.stop() })
  const clocks = await startEngineClocks({ db: pools.leases, nats, log, metrics, replicas: config.streams.replicas })
  releases.push({ of: 'engine clocks', release: () => clocks.stop() })

  const history = await openHistory(config, apiTimeLimits.historyMs, { log, metrics })
  releases.push({ of: 'ClickHouse', release: () => history.stop() })
  const objects = openObjects(config, nats)
  const sign = createSigner(config.secretKey, 'screenshot links')
  const db = pools.forRole(config.roles[0]!)
  const guards = { egress, visitorEgress }
  const live = createLive({ db: config.roles.includes('api') ? pools.forRole('api') : db, log, metrics })
  return {
    config,
    apiTimeLimits,
    log,
    metrics,
    secrets,
    ...guards,
    httpsPort: https.port,
    mailer,
    db,
    pools,
    nats,
    clocks,
    history,
    clickhouse: history.forRole('api'),
    objects,
    sign,
    live,
  }
}

function openObjects({ screenshots, streams }: Config, nats: Nats): ObjectStore {
  const { store, s3, bucketMaxBytes: maxBytes } = screenshots
  if (store.kind === 's3') return createS3ObjectStore({ ...store, ...s3 })
  return createNatsObjectStore(nats, SCREENSHOTS_BUCKET, { replicas: streams.replicas, maxBytes })
}

const createHostCheck = (config: Config, listensAt: string) =>
  createIsAcceptedHost([...listOwnHosts(config), ...config.allowedHosts], listensAt)

/** The server of the operator port, for the operator, Prometheus and the proxy (docs/design/api.md#process-endpoints). */
function createOperatorHttp(handles: ProcessContext, watchdog: Watchdog): App {
  const { config, metrics, clocks } = handles
  // on loopback, a browser on this machine must be kept out; otherwise Prometheus and proxies use names of every kind
  const isAcceptedHost = isLoopback(config.operatorHost) ? createHostCheck(config, config.operatorHost) : () => true
  const app = createOperatorApp({ ...config, ...handles, isAcceptedHost })
  livenessRoutes(app, watchdog)
  processRoutes(app, { metrics, clocks, stuck: watchdog.stuck, ...listDependencies(handles) })
  healthRoutes(app, handles)
  if (config.roles.includes('api')) operatorRoutes(app, handles)
  return app
}

async function createHttp(handles: ProcessContext, watchdog: Watchdog): Promise<App> {
  const { config, db } = handles
  const isAcceptedHost = createHostCheck(config, config.host)
  const findSession = createSessionFinder(db)
  const authenticators = {
    authenticate: createAuthenticator(db),
    authenticateSession: createSessionAuthenticator(findSession),
    reloadCaller: createCallerReader(db),
  }
  const { requestWaitMs } = handles.apiTimeLimits
  const app = await createApp({ ...config, ...handles, isAcceptedHost, requestWaitMs, ...authenticators })
  livenessRoutes(app, watchdog)
  if (config.roles.includes('api')) {
    const { registration } = config
    handles.log.info({ event: 'registration', registration }, REGISTRATION_MODE_MESSAGES[registration])
    // first, because its constraint of routes makes the router add all earlier routes again
    addScope(app, scope => publicRoutes(scope, { ...handles, findSession }))
    addScope(app, api => apiRoutes(api, handles), { prefix: API_PREFIX })
  }
  return app
}

/** Roles that cannot work without NATS, or need it for requests of users. */
const ROLES_ON_NATS: readonly ProcessRole[] = ['api', 'fleet', 'verdict', 'record']

function listDependencies({
  config,
  pools,
  nats,
  clickhouse,
}: ProcessContext): Pick<ProcessStatus, 'required' | 'optional'> {
  const pingPostgres = () => pingPrimary(pools.leases)
  const pingNats = () => nats.connection.rtt()
  const needsNats = config.roles.some(role => ROLES_ON_NATS.includes(role))
  return {
    required: { postgres: pingPostgres, ...(needsNats && { nats: pingNats }) },
    // ClickHouse has the history only: verdicts, alerts and most of the API work without it
    optional: { ...(!needsNats && { nats: pingNats }), clickhouse: () => pingClickhouse(clickhouse, PING_TIMEOUT_MS) },
  }
}

/** `prefix`: the prefix of the variables PORT and HOST. */
async function openPort(app: App, host: string, port: number, prefix = ''): Promise<number> {
  try {
    await app.listen({ host, port })
    return (app.server.address() as AddressInfo).port
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EADDRINUSE')
      throw new ConfigError(`port ${port} of ${host} is already in use; choose another with ${prefix}PORT`)
    if (code === 'EACCES') throw new ConfigError(`this user may not open port ${port}; choose one above 1023`)
    if (code === 'EADDRNOTAVAIL')
      throw new ConfigError(`${host} is not an address of this machine; change ${prefix}HOST`)
    throw error
  }
}

const listChannels = (parts: RoleComponent[]) => [...new Set(parts.flatMap(part => Object.keys(part.onNotify ?? {})))]

function notify(parts: RoleComponent[], channel: string, payload: string): void {
  for (const part of parts) part.onNotify?.[channel]?.(payload)
}

/** Releases everything in reverse order, even when a release fails. Gives up after 10 s and logs what has not ended. */
async function releaseAll(releases: Release[], log: Log): Promise<void> {
  let current = ''
  const all = async () => {
    for (const { of, release } of releases.toReversed()) {
      current = of
      await release().catch(error => log.warn({ err: error, resource: of }, 'could not release a resource'))
    }
    current = ''
  }
  const isDone = new AbortController()
  await Promise.race([all().finally(() => isDone.abort()), sleep(STOP_TIMEOUT_MS, isDone.signal)])
  if (current !== '') log.warn({ event: 'stop_timeout', resource: current }, 'a resource was not released in time')
}
