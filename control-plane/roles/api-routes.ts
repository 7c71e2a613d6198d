import { addressRoutes } from '../accounts/addresses/routes.ts'
import { apiKeyRoutes } from '../accounts/api-keys/routes.ts'
import { auditRoutes } from '../accounts/audit/routes.ts'
import { bootstrapRoutes } from '../accounts/bootstrap/routes.ts'
import { memberRoutes } from '../accounts/members/routes.ts'
import { signInRoutes } from '../accounts/sign-in/routes.ts'
import { channelRoutes } from '../alerts/channel-routes.ts'
import { ruleRoutes } from '../alerts/rule-routes.ts'
import { settingsRoutes } from '../alerts/settings-routes.ts'
import { subscriptionRoutes } from '../alerts/subscription-routes.ts'
import { analyticsRoutes } from '../analytics/routes.ts'
import { summaryRoutes } from '../analytics/summary-routes.ts'
import { createWatching } from '../analytics/watching-reader.ts'
import { PURPOSE as CANARIES } from '../canaries/address.ts'
import { canaryRoutes } from '../canaries/routes.ts'
import { chatRequestRoutes } from '../chat/request-routes.ts'
import { chatRoutes } from '../chat/routes.ts'
import { chatSettingsRoutes } from '../chat/settings-routes.ts'
import { fieldRoutes } from '../data-sources/field-routes.ts'
import { sourceOperationRoutes } from '../data-sources/operation-routes.ts'
import { sourceRoutes } from '../data-sources/routes.ts'
import { relayRoutes } from '../deliveries/relay-routes.ts'
import { deliveryRoutes } from '../deliveries/routes.ts'
import { exchangeRoutes } from '../exchange/routes.ts'
import { fleetRoutes } from '../fleet/routes.ts'
import { fleetViewRoutes } from '../fleet/view-routes.ts'
import { pingRoutes } from '../heartbeats/routes.ts'
import { incidentRoutes } from '../incidents/routes.ts'
import { incidentUpdateRoutes } from '../incidents/update-routes.ts'
import { maintenanceRoutes } from '../maintenance/routes.ts'
import { parentRoutes } from '../monitors/parent-routes.ts'
import { monitorRoutes } from '../monitors/routes.ts'
import { createPasswords } from '../platform/passwords.ts'
import { createSigner } from '../platform/signer.ts'
import { imageRoutes } from '../screenshots/image-routes.ts'
import { screenshotRoutes } from '../screenshots/routes.ts'
import { lookSoon } from '../silences/store.ts'
import type { Handles } from '../start.ts'
import { componentRoutes } from '../status-pages/component-routes.ts'
import { customDomainRoutes } from '../status-pages/custom-domain/routes.ts'
import { tlsCheckRoutes } from '../status-pages/custom-domain/tls-check-routes.ts'
import { groupRoutes } from '../status-pages/group-routes.ts'
import { pageImageRoutes } from '../status-pages/image-routes.ts'
import { projectRoutes } from '../status-pages/project-routes.ts'
import { publicPageRoutes } from '../status-pages/public-routes.ts'
import { statusPageRoutes } from '../status-pages/routes.ts'
import { createCustomHostOf } from '../status-pages/site.ts'
import { subscriberRoutes } from '../status-pages/subscribers/routes.ts'
import { trustRoutes } from '../status-pages/trust/trust-routes.ts'
import { dependencyRoutes } from '../vendors/routes.ts'
import { leaveUnchecked } from '../verdict/actions.ts'
import { verdictRoutes } from '../verdict/routes.ts'
import type { App } from '../web/app.ts'
import { createHeavyWrites } from '../web/heavy-writes.ts'
import { accountTools, chatTools, domainTools, mailTools, ownHosts, pageTools } from './tools.ts'

/** The routes of every room, below /api/v1: the role `api`. */
export function apiRoutes(app: App, handles: Handles): void {
  const { db, secrets, nats, clickhouse, sign } = handles
  const { checkLiteral } = handles.egress
  const { publicUrl, defaultPlan, registration, testsPerMinute, limits, retention, relayUrl } = handles.config
  const watching = createWatching({ clickhouse, db })
  const heavyWrites = createHeavyWrites(handles.metrics)
  bootstrapRoutes(app, { db, publicUrl, defaultPlan, registration })
  apiKeyRoutes(app, { db, limits })
  memberRoutes(app, accountTools(handles))
  auditRoutes(app, { db })
  deliveryRoutes(app, { db, secrets, keptDays: retention.deliveries })
  relayRoutes(app, { db })
  channelRoutes(app, { db, secrets, checkLiteral, publicUrl, limits, relayUrl, ...mailTools(handles) })
  ruleRoutes(app, { db, limits })
  settingsRoutes(app, { db })
  subscriptionRoutes(app, { db, limits })
  monitorRoutes(app, { db, limits, secrets, checkLiteral, publicUrl, watching, leaveUnchecked, heavyWrites })
  parentRoutes(app, { db, review: lookSoon })
  screenshotRoutes(app, { db, nats, publicUrl, sign })
  fleetRoutes(app, { db, nats, secrets, checkLiteral, testsPerMinute })
  fleetViewRoutes(app, { db })
  incidentRoutes(app, { db, publicUrl, limits })
  incidentUpdateRoutes(app, { db, publicUrl, limits })
  maintenanceRoutes(app, { db, review: lookSoon, limits })
  verdictRoutes(app, { db, secrets, publicUrl, watching })
  analyticsRoutes(app, { db, clickhouse, publicUrl, sign })
  summaryRoutes(app, { db, clickhouse })
  projectRoutes(app, { db, publicUrl, limits })
  statusPageRoutes(app, { db, checkLiteral, publicUrl, limits })
  pageImageRoutes(app, { db, publicUrl })
  componentRoutes(app, { db })
  groupRoutes(app, { db })
  subscriberRoutes(app, { db, secrets })
  customDomainRoutes(app, domainTools(handles))
  exchangeRoutes(app, {
    ...handles,
    ...mailTools(handles),
    checkLiteral,
    publicUrl,
    limits,
    relayUrl,
    leaveUnchecked,
    heavyWrites,
    review: lookSoon,
  })
  dependencyRoutes(app, { db, checkLiteral })
  chatRoutes(app, chatTools(handles))
  sourceRoutes(app, { db, secrets, egress: handles.egress, publicUrl, limits })
  sourceOperationRoutes(app, { db, secrets, egress: handles.egress, testsPerMinute })
  fieldRoutes(app, { db, publicUrl })
}

/** What the role `api` serves on the operator's port. */
export function operatorRoutes(app: App, { db, metrics, config }: Handles): void {
  tlsCheckRoutes(app, { db, metrics, ownHosts: ownHosts(config) })
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
  app.register(async scope => addressRoutes(scope as App, { db, isOwnHost }))
  imageRoutes(app, { db, objects, sign })
  const canaries = { db, secrets, sign: createSigner(secretKey, CANARIES) }
  app.register(async scope => canaryRoutes(scope as App, canaries))
  app.register(async scope => chatSettingsRoutes(scope as App, { ...chatTools(handles), isOwnHost }))
  app.register(async scope => chatRequestRoutes(scope as App, { ...chatTools(handles), log: handles.log }))
  if (config.trustPage) trustRoutes(app, { db, publicUrl, isOwnHost })
  app.register(async scope => publicPageRoutes(scope as App, pageTools(handles)))
}
