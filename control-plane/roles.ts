import { hostname } from 'node:os'
import { apiKeyRoutes } from './accounts/api-keys/routes.ts'
import { auditRoutes } from './accounts/audit/routes.ts'
import { bootstrapRoutes } from './accounts/bootstrap/routes.ts'
import { startAccountMailWorker } from './accounts/mails/worker.ts'
import { memberRoutes } from './accounts/members/routes.ts'
import { startDeletionWorker } from './accounts/organizations/worker.ts'
import { signInRoutes } from './accounts/sign-in/routes.ts'
import { startAccountsWorker } from './accounts/worker.ts'
import { channelRoutes } from './alerts/channel-routes.ts'
import { startDigestWorker } from './alerts/digest-worker.ts'
import { startFanOutWorker } from './alerts/fan-out-worker.ts'
import { startReminderWorker } from './alerts/reminder-worker.ts'
import { ruleRoutes } from './alerts/rule-routes.ts'
import { settingsRoutes } from './alerts/settings-routes.ts'
import { subscriptionRoutes } from './alerts/subscription-routes.ts'
import { startDailyWorker } from './analytics/daily-worker.ts'
import { startRecorder } from './analytics/recorder.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { summaryRoutes } from './analytics/summary-routes.ts'
import { createWatching } from './analytics/watching-reader.ts'
import { startHourlyWorker } from './analytics/worker.ts'
import { PURPOSE as CANARIES } from './canaries/address.ts'
import { canaryRoutes } from './canaries/routes.ts'
import { startCanaryWorker } from './canaries/worker.ts'
import { chatRequestRoutes } from './chat/request-routes.ts'
import { chatRoutes } from './chat/routes.ts'
import { chatSettingsRoutes } from './chat/settings-routes.ts'
import { STATE_PURPOSE } from './chat/state.ts'
import { startChatWorker } from './chat/worker.ts'
import { startClockStepWorker } from './clock-steps/worker.ts'
import type { Config, Role } from './config.ts'
import { fieldRoutes } from './data-sources/field-routes.ts'
import { sourceOperationRoutes } from './data-sources/operation-routes.ts'
import { sourceRoutes } from './data-sources/routes.ts'
import { startDataSourceWorker } from './data-sources/worker.ts'
import { relayRoutes } from './deliveries/relay-routes.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { startDeliveryWorker } from './deliveries/worker.ts'
import { exchangeRoutes } from './exchange/routes.ts'
import { storeCertificates } from './expiry/actions.ts'
import { startExpiryWorker } from './expiry/worker.ts'
import { fleetRoutes } from './fleet/routes.ts'
import { fleetViewRoutes } from './fleet/view-routes.ts'
import { startFleet } from './fleet/worker.ts'
import { startHealthWorker } from './health/worker.ts'
import { startKeptPingRecorder } from './heartbeats/recorder.ts'
import { pingRoutes } from './heartbeats/routes.ts'
import { startListening, startOverdueWorker, startPingTokenWorker } from './heartbeats/worker.ts'
import { startIncidentCountWorker } from './incidents/count-worker.ts'
import { startFleetWatchWorker } from './incidents/fleet-watch-worker.ts'
import { incidentRoutes } from './incidents/routes.ts'
import { incidentUpdateRoutes } from './incidents/update-routes.ts'
import { maintenanceRoutes } from './maintenance/routes.ts'
import { startMaintenanceWorker } from './maintenance/worker.ts'
import { parentRoutes } from './monitors/parent-routes.ts'
import { monitorRoutes } from './monitors/routes.ts'
import { now } from './platform/clock.ts'
import type { Loop } from './platform/loop.ts'
import { createPasswords } from './platform/passwords.ts'
import { createSigner } from './platform/signer.ts'
import { startVerdict } from './results/worker.ts'
import { startRetentionWorker } from './retention/worker.ts'
import { imageRoutes } from './screenshots/image-routes.ts'
import { startScreenshotRecorder } from './screenshots/recorder.ts'
import { screenshotRoutes } from './screenshots/routes.ts'
import { startScreenshotWorker } from './screenshots/worker.ts'
import { lookSoon } from './silences/store.ts'
import { startSilencesWorker } from './silences/worker.ts'
import type { Handles } from './start.ts'
import { componentRoutes } from './status-pages/component-routes.ts'
import { customDomainRoutes } from './status-pages/custom-domain/routes.ts'
import { tlsCheckRoutes } from './status-pages/custom-domain/tls-check-routes.ts'
import { groupRoutes } from './status-pages/group-routes.ts'
import { pageImageRoutes } from './status-pages/image-routes.ts'
import { startImageWorker } from './status-pages/image-worker.ts'
import { projectRoutes } from './status-pages/project-routes.ts'
import { publicPageRoutes } from './status-pages/public-routes.ts'
import { statusPageRoutes } from './status-pages/routes.ts'
import { createCustomHostOf } from './status-pages/site.ts'
import { PURPOSE as SUBSCRIBERS } from './status-pages/subscribers/address.ts'
import { subscriberRoutes } from './status-pages/subscribers/routes.ts'
import { startNoticeWorker, startSubscriberCleaning } from './status-pages/subscribers/worker.ts'
import { trustRoutes } from './status-pages/trust/trust-routes.ts'
import { dependencyRoutes } from './vendors/routes.ts'
import { startVendorWorker } from './vendors/worker.ts'
import { leaveUnchecked } from './verdict/actions.ts'
import { verdictRoutes } from './verdict/routes.ts'
import type { App } from './web/app.ts'
import { createHeavyWrites } from './web/heavy-writes.ts'

/** Something that runs until it is stopped, and what it wants to hear of. */
export type Part = {
  stop(): Promise<unknown>
  /** called on each NOTIFY of the channel and after each reconnect to PostgreSQL */
  onNotify?: Record<string, () => void>
  grpcPort?: number
}

/** The routes of every room, below /api/v1: the role `api`. */
export function apiRoutes(app: App, handles: Handles): void {
  const { db, secrets, nats, clickhouse, sign } = handles
  const { checkLiteral } = handles.egress
  const { publicUrl, defaultPlan, testsPerMinute, alertLimits, retention } = handles.config
  const watching = createWatching({ clickhouse, db })
  const heavyWrites = createHeavyWrites(handles.metrics)
  bootstrapRoutes(app, { db, publicUrl, defaultPlan })
  apiKeyRoutes(app, { db })
  memberRoutes(app, accountTools(handles))
  auditRoutes(app, { db })
  deliveryRoutes(app, { db, keptDays: retention.deliveries })
  relayRoutes(app, { db })
  channelRoutes(app, { db, secrets, checkLiteral, publicUrl, alertLimits })
  ruleRoutes(app, { db, alertLimits })
  settingsRoutes(app, { db })
  subscriptionRoutes(app, { db })
  monitorRoutes(app, { db, secrets, checkLiteral, publicUrl, watching, leaveUnchecked, heavyWrites })
  parentRoutes(app, { db, review: lookSoon })
  screenshotRoutes(app, { db, nats, publicUrl, sign })
  fleetRoutes(app, { db, nats, secrets, checkLiteral, testsPerMinute })
  fleetViewRoutes(app, { db })
  incidentRoutes(app, { db, publicUrl })
  incidentUpdateRoutes(app, { db, publicUrl })
  maintenanceRoutes(app, { db, review: lookSoon })
  verdictRoutes(app, { db, secrets, publicUrl, watching })
  analyticsRoutes(app, { db, clickhouse, publicUrl, sign })
  summaryRoutes(app, { db, clickhouse })
  projectRoutes(app, { db, publicUrl, alertLimits })
  statusPageRoutes(app, { db, checkLiteral, publicUrl })
  pageImageRoutes(app, { db, publicUrl })
  componentRoutes(app, { db })
  groupRoutes(app, { db })
  subscriberRoutes(app, { db, secrets })
  customDomainRoutes(app, domainTools(handles))
  exchangeRoutes(app, {
    ...handles,
    checkLiteral,
    publicUrl,
    alertLimits,
    leaveUnchecked,
    heavyWrites,
    review: lookSoon,
  })
  dependencyRoutes(app, { db, checkLiteral })
  chatRoutes(app, chatTools(handles))
  sourceRoutes(app, { db, secrets, egress: handles.egress, publicUrl })
  sourceOperationRoutes(app, { db, secrets, egress: handles.egress, testsPerMinute })
  fieldRoutes(app, { db, publicUrl })
}

/** What the role `api` serves outside /api/v1. */
export function publicRoutes(app: App, handles: Handles): void {
  const { db, config, secrets, objects, sign, nats, log, metrics } = handles
  const { publicUrl, pingsPerMinute, secretKey } = config
  // ping URLs answer in plain text, errors too, and nothing else does
  app.register(async scope => pingRoutes(scope as App, { db, nats, log, metrics, publicUrl, pingsPerMinute }))
  const customHostOf = createCustomHostOf(ownHosts(config))
  const isOwnHost = (host: string) => customHostOf(host) === null
  signInRoutes(app, { ...accountTools(handles), passwords: createPasswords(), isOwnHost })
  imageRoutes(app, { db, objects, sign })
  tlsCheckRoutes(app, { db, ownHosts: ownHosts(config) })
  const canaries = { db, secrets, sign: createSigner(secretKey, CANARIES) }
  app.register(async scope => canaryRoutes(scope as App, canaries))
  app.register(async scope => chatSettingsRoutes(scope as App, { ...chatTools(handles), isOwnHost }))
  app.register(async scope => chatRequestRoutes(scope as App, { ...chatTools(handles), log: handles.log }))
  if (config.trustPage) trustRoutes(app, { db, publicUrl, isOwnHost })
  app.register(async scope => publicPageRoutes(scope as App, pageTools(handles)))
}

const accountTools = ({ db, secrets, config: { publicUrl }, mailer }: Handles) => {
  const sendsMail = mailer !== null
  return { db, secrets, publicUrl, sendsMail }
}

function pageTools(handles: Handles) {
  const { config, egress } = handles
  const sign = createSigner(config.secretKey, SUBSCRIBERS)
  return {
    ...handles,
    publicUrl: config.publicUrl,
    ownHosts: ownHosts(config),
    checkLiteral: egress.checkLiteral,
    sign,
  }
}

function domainTools({ db, egress, config }: Handles) {
  const world = { egress, httpsPort: 443 }
  const sign = createSigner(config.secretKey, 'custom domains')
  const { publicUrl, customDomains: settings } = config
  return { db, world, settings, ownHosts: ownHosts(config), sign, publicUrl }
}

function chatTools({ db, secrets, egress, metrics, config }: Handles) {
  const { publicUrl, chat: settings, chatApiUrl: apiUrl, secretKey } = config
  const sign = createSigner(secretKey, STATE_PURPOSE)
  return { db, secrets, publicUrl, settings, sign, provider: { apiUrl, egress, metrics } }
}

/** Where this installation itself is reached. */
const ownHosts = ({ publicUrl, customDomains }: Config) => [new URL(publicUrl).hostname, customDomains.target]

/** What each role runs beside the HTTP server; `api` also the routes above. */
export const STARTERS: Record<Role, ((handles: Handles) => Part | Promise<Part>)[]> = {
  api: [startListening, withPublicUrl(startKeptPingRecorder)],
  fleet: [startFleetServer],
  verdict: [startVerdicts],
  record: [startRecorder, startHourlyWorker, startDailyWorker, startScreenshotRecorder],
  deliver: [
    wokenBy('fan_outs', startFanOutWorker),
    wokenBy('digests', startDigestWorker),
    startDeliveries,
    startNotices,
    startAccountMails,
  ],
  schedule: [
    startAccountsWorker,
    startClockStepWorker,
    startDeletionWorker,
    startScreenshotWorker,
    handles => startExpiryWorker({ ...handles, ...handles.config }),
    withPublicUrl(startOverdueWorker),
    startPingTokenWorker,
    startReminderWorker,
    withPublicUrl(startFleetWatchWorker),
    startIncidentCountWorker,
    startHealthWorker,
    startMaintenanceWorker,
    wokenBy('silences', startSilencesWorker),
    startCanaryWorker,
    startDataSources,
    startChat,
    startSubscriberCleaning,
    wokenBy('page_images', startImageWorker),
    handles => startVendorWorker({ ...handles, ...handles.config }),
    handles => startRetentionWorker({ ...handles, ...handles.config }),
  ],
}

/** A loop that a NOTIFY wakes. */
function wokenBy(channel: string, start: (handles: Handles) => Loop): (handles: Handles) => Part {
  return handles => {
    const { stop, wake } = start(handles)
    return { stop, onNotify: { [channel]: wake } }
  }
}

function withPublicUrl(start: (tools: Handles & { publicUrl: string }) => Part): (handles: Handles) => Part {
  return handles => start({ ...handles, publicUrl: handles.config.publicUrl })
}

function startDataSources(handles: Handles): Part {
  const worker = startDataSourceWorker({ ...handles, publicUrl: handles.config.publicUrl })
  return { stop: worker.stop, onNotify: { data_sources: worker.wake } }
}

/** Without a mail server nobody is written to. */
function startAccountMails({ mailer, ...handles }: Handles): Part {
  if (mailer === null) return { stop: async () => {} }
  const worker = startAccountMailWorker({ ...handles, mailer, publicUrl: handles.config.publicUrl })
  return { stop: worker.stop, onNotify: { account_mails: worker.wake } }
}

function startDeliveries(handles: Handles): Part {
  const { publicUrl, relayUrl, chatApiUrl } = handles.config
  const worker = startDeliveryWorker({ ...handles, publicUrl, relayUrl, chatApiUrl })
  return { stop: worker.stop, onNotify: { deliveries: worker.wake, relay: worker.wakeRelay } }
}

async function startFleetServer(handles: Handles): Promise<Part> {
  const { databaseUrl, host, grpcPort, grpcTls, probeNatsUrl } = handles.config
  const processName = `${hostname()}-${process.pid}`
  const { suspicion } = handles.pools
  const own = { databaseUrl, suspicion, processName, host, port: grpcPort, tls: grpcTls, natsUrl: probeNatsUrl }
  const fleet = await startFleet({ ...handles, ...own })
  return { stop: fleet.stop, grpcPort: fleet.port }
}

function startChat(handles: Handles): Part {
  const worker = startChatWorker({ ...handles, ...chatTools(handles) })
  return { stop: worker.stop, onNotify: { chat: worker.wake } }
}

function startNotices(handles: Handles): Part {
  const worker = startNoticeWorker({ ...handles, publicUrl: handles.config.publicUrl })
  return { stop: worker.stop, onNotify: { page_notices: worker.wake } }
}

async function startVerdicts(handles: Handles): Promise<Part> {
  const verdict = await startVerdict({
    ...handles,
    leases: handles.pools.leases,
    publicUrl: handles.config.publicUrl,
    storeCertificates: seen => storeCertificates(handles.db, seen, now()),
  })
  return { stop: verdict.stop, onNotify: { monitors: verdict.wake } }
}
