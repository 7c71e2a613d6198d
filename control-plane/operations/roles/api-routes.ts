import { apiKeyRoutes } from '../../accounts/api-keys/routes.ts'
import { auditRoutes } from '../../accounts/audit/routes.ts'
import { addressRoutes } from '../../accounts/email/confirmation/routes.ts'
import { meRoutes } from '../../accounts/members/me-routes.ts'
import { memberRoutes } from '../../accounts/members/routes.ts'
import { bootstrapRoutes } from '../../accounts/registration/routes.ts'
import type { FindSession } from '../../accounts/sessions/actions.ts'
import { signInRoutes } from '../../accounts/sign-in/routes.ts'
import { alertLogRoutes } from '../../alerting/deliveries/log/routes.ts'
import { relayRoutes } from '../../alerting/deliveries/relay/routes.ts'
import { channelRoutes } from '../../alerting/routing/alert-channels/routes.ts'
import { unstoredTestRoutes } from '../../alerting/routing/alert-channels/unstored-test-routes.ts'
import { ruleRoutes } from '../../alerting/routing/rules/rule-routes.ts'
import { subscriptionRoutes } from '../../alerting/routing/rules/subscription-routes.ts'
import { settingsRoutes } from '../../alerting/routing/settings-routes.ts'
import { ASSETS } from '../../dashboard/assets.ts'
import { dashboardRoutes } from '../../dashboard/routes.tsx'
import { wallRoutes } from '../../dashboard/wall/wall-routes.ts'
import { createPasswords } from '../../foundation/platform/crypto/passwords.ts'
import { createSigner } from '../../foundation/platform/crypto/signer.ts'
import { createHeavyWrites } from '../../foundation/web/limits/heavy-writes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import { createMonitorActivityReader } from '../../insight/analytics/monitor-activity-reader.ts'
import { analyticsRoutes } from '../../insight/analytics/routes.ts'
import { stripRoutes } from '../../insight/analytics/strips/strip-routes.ts'
import { summaryRoutes } from '../../insight/analytics/summary/summary-routes.ts'
import { CANARY_KEY_PURPOSE as CANARIES } from '../../insight/canaries/canary-urls.ts'
import { canaryRoutes } from '../../insight/canaries/routes.ts'
import { rehearsalRoutes } from '../../insight/explanations/rehearsal/rehearsal-routes.ts'
import { timelineRoutes } from '../../insight/explanations/timeline/timeline-routes.ts'
import { voteRoutes } from '../../insight/explanations/votes/votes-routes.ts'
import { boardRoutes } from '../../insight/live/board/board-routes.ts'
import { eventRoutes } from '../../insight/live/events/event-routes.ts'
import { createWallBoardReader } from '../../insight/live/wall-links/actions.ts'
import { wallLinkRoutes } from '../../insight/live/wall-links/routes.ts'
import { chatRequestRoutes } from '../../integrations/chat/requests/request-routes.ts'
import { chatRoutes } from '../../integrations/chat/routes.ts'
import { chatSettingsRoutes } from '../../integrations/chat/settings-pages/settings-routes.ts'
import { fieldRoutes } from '../../integrations/data-sources/api/field-routes.ts'
import { sourceOperationRoutes } from '../../integrations/data-sources/api/operation-routes.ts'
import { sourceRoutes } from '../../integrations/data-sources/api/source-routes.ts'
import { importExportRoutes } from '../../integrations/import-export/routes.ts'
import { dependencyRoutes } from '../../integrations/vendors/dependencies/dependency-routes.ts'
import { onDemandRoutes } from '../../monitoring/fleet/on-demand/routes.ts'
import { installRoutes, PROBE_FOLDER } from '../../monitoring/fleet/probes/installation/install-routes.ts'
import { probeTokenRoutes } from '../../monitoring/fleet/probes/installation/probe-token-routes.ts'
import { probeRoutes } from '../../monitoring/fleet/probes/probe-routes.ts'
import { parentRoutes } from '../../monitoring/monitors/parents/routes.ts'
import { monitorRoutes } from '../../monitoring/monitors/routes.ts'
import { imageRoutes } from '../../monitoring/screenshots/image-routes.ts'
import { screenshotRoutes } from '../../monitoring/screenshots/routes.ts'
import { viewRoutes } from '../../monitoring/views/routes.ts'
import { componentRoutes } from '../../pages/admin/components/component-routes.ts'
import { groupRoutes } from '../../pages/admin/components/group-routes.ts'
import { pageImageRoutes } from '../../pages/admin/image-routes.ts'
import { statusPageRoutes } from '../../pages/admin/page-routes.ts'
import { projectRoutes } from '../../pages/admin/project-routes.ts'
import { customDomainRoutes } from '../../pages/custom-domains/routes.ts'
import { tlsCheckRoutes } from '../../pages/custom-domains/tls-check-routes.ts'
import { pagePreviewRoutes } from '../../pages/public/preview-routes.ts'
import { publicPageRoutes } from '../../pages/public/public-routes.ts'
import { createCustomHostParser } from '../../pages/public/site.ts'
import { trustRoutes } from '../../pages/public/trust/trust-routes.ts'
import { subscriberRoutes } from '../../pages/subscribers/routes.ts'
import { bulkChangeRoutes } from '../../verdict/bulk-changes/routes.ts'
import { clearVerdict } from '../../verdict/core/monitor-lifecycle-actions.ts'
import { monitorLifecycleRoutes } from '../../verdict/core/monitor-lifecycle-routes.ts'
import { pingRoutes } from '../../verdict/heartbeats/intake/routes.ts'
import { incidentRoutes } from '../../verdict/incidents/api/routes.ts'
import { incidentTemplateRoutes } from '../../verdict/incidents/api/templates/routes.ts'
import { incidentUpdateRoutes } from '../../verdict/incidents/api/update-routes.ts'
import { maintenanceRoutes } from '../../verdict/maintenance/routes.ts'
import { silenceRoutes } from '../../verdict/silences/routes.ts'
import { scheduleReview } from '../../verdict/suppression/store.ts'
import type { ProcessContext } from './context.ts'
import {
  buildAccountTools,
  buildChatTools,
  buildDeliveryTools,
  buildDomainTools,
  buildMailTools,
  buildPageTools,
  listOwnHosts,
} from './tools.ts'

/** The API routes of every area, below /api/v1, for the role `api`. */
export function apiRoutes(app: App, handles: ProcessContext): void {
  const { db, secrets, nats, clickhouse, sign } = handles
  const { checkLiteral } = handles.egress
  const { publicUrl, defaultPlan, registration, testsPerMinute, limits, retention, relayUrl } = handles.config
  const watching = createMonitorActivityReader({ clickhouse, db })
  const heavyWrites = createHeavyWrites(handles.metrics, handles.apiTimeLimits.heavyWriteWaitMs)
  bootstrapRoutes(app, { db, publicUrl, defaultPlan, registration })
  apiKeyRoutes(app, { db, limits })
  memberRoutes(app, buildAccountTools(handles))
  meRoutes(app, { db })
  auditRoutes(app, { db })
  alertLogRoutes(app, { db, secrets, retentionDays: retention.deliveries })
  relayRoutes(app, { db })
  channelRoutes(app, { db, secrets, checkLiteral, publicUrl, limits, relayUrl, ...buildMailTools(handles) })
  unstoredTestRoutes(app, buildDeliveryTools(handles))
  ruleRoutes(app, { db, limits })
  settingsRoutes(app, { db })
  subscriptionRoutes(app, { db, limits })
  monitorRoutes(app, {
    db,
    limits,
    secrets,
    checkLiteral,
    publicUrl,
    readMonitoringState: watching,
    leaveUnchecked: clearVerdict,
    heavyWrites,
  })
  bulkChangeRoutes(app, { db, limits, secrets, checkLiteral, publicUrl, leaveUnchecked: clearVerdict, heavyWrites })
  viewRoutes(app, { db })
  parentRoutes(app, { db, review: scheduleReview })
  screenshotRoutes(app, { db, nats, publicUrl, sign })
  onDemandRoutes(app, { db, nats, secrets, checkLiteral, testsPerMinute })
  probeRoutes(app, { db })
  const { fleetUrl, folder } = handles.config.probeInstallation
  probeTokenRoutes(app, { db, publicUrl, publicFleetUrl: fleetUrl, folder: folder ?? PROBE_FOLDER })
  incidentRoutes(app, { db, publicUrl, limits })
  incidentUpdateRoutes(app, { db, publicUrl, limits })
  incidentTemplateRoutes(app, { db })
  maintenanceRoutes(app, { db, review: scheduleReview, limits })
  silenceRoutes(app, { db, review: scheduleReview })
  monitorLifecycleRoutes(app, { db, secrets, publicUrl, watching })
  analyticsRoutes(app, { db, clickhouse, publicUrl, sign })
  stripRoutes(app, { db, clickhouse })
  summaryRoutes(app, { db, clickhouse })
  voteRoutes(app, { db, clickhouse })
  boardRoutes(app, handles.live)
  eventRoutes(app, { ...handles.live, metrics: handles.metrics, build: getBuild(handles) })
  wallLinkRoutes(app, { db, publicUrl })
  timelineRoutes(app, { db, clickhouse, publicUrl, sign })
  rehearsalRoutes(app, { db, clickhouse, secrets, checkLiteral, metrics: handles.metrics })
  projectRoutes(app, { db, publicUrl, limits })
  statusPageRoutes(app, { db, checkLiteral, publicUrl, limits })
  pageImageRoutes(app, { db, publicUrl })
  pagePreviewRoutes(app, { db, clickhouse, checkLiteral, publicUrl })
  componentRoutes(app, { db })
  groupRoutes(app, { db })
  subscriberRoutes(app, { db, secrets })
  customDomainRoutes(app, buildDomainTools(handles))
  importExportRoutes(app, {
    ...handles,
    ...buildMailTools(handles),
    checkLiteral,
    publicUrl,
    limits,
    relayUrl,
    leaveUnchecked: clearVerdict,
    heavyWrites,
    review: scheduleReview,
  })
  dependencyRoutes(app, { db, checkLiteral, egress: handles.egress, testsPerMinute })
  chatRoutes(app, buildChatTools(handles))
  sourceRoutes(app, { db, secrets, egress: handles.egress, publicUrl, limits })
  sourceOperationRoutes(app, { db, secrets, egress: handles.egress, testsPerMinute })
  fieldRoutes(app, { db, publicUrl })
}

/** What identifies the program to open pages. */
const getBuild = ({ config }: ProcessContext): string => config.buildId ?? ASSETS.script ?? 'sources'

/** The routes of the role `api` on the operator port. */
export function operatorRoutes(app: App, { db, metrics, config }: ProcessContext): void {
  tlsCheckRoutes(app, { db, metrics, ownHosts: listOwnHosts(config) })
}

/** The routes of the role `api` outside /api/v1. `findSession`: that of the session bridge, with its limit. */
export function publicRoutes(app: App, handles: ProcessContext & { findSession: FindSession }): void {
  const { db, config, secrets, objects, sign, nats, log, metrics, findSession } = handles
  const { publicUrl, pingsPerMinute, secretKey } = config
  // a separate scope, because only ping URLs answer in plain text, including errors
  addScope(app, scope => pingRoutes(scope, { db, nats, log, metrics, publicUrl, pingsPerMinute }))
  const parseCustomHost = createCustomHostParser(listOwnHosts(config))
  const isOwnHost = (host: string) => parseCustomHost(host) === null
  signInRoutes(app, { ...buildAccountTools(handles), passwords: createPasswords(), findSession, isOwnHost })
  addScope(app, scope => addressRoutes(scope, { db, isOwnHost }))
  imageRoutes(app, { db, objects, sign })
  const canaries = { db, secrets, sign: createSigner(secretKey, CANARIES) }
  addScope(app, scope => canaryRoutes(scope, canaries))
  addScope(app, scope => chatSettingsRoutes(scope, { ...buildChatTools(handles), findSession, isOwnHost }))
  addScope(app, scope => chatRequestRoutes(scope, { ...buildChatTools(handles), log: handles.log }))
  installRoutes(app, { folder: config.probeInstallation.folder ?? PROBE_FOLDER, isOwnHost })
  if (config.trustPage) trustRoutes(app, { db, publicUrl, isOwnHost })
  addScope(app, scope => dashboardRoutes(scope, { publicUrl, isOwnHost, build: getBuild(handles) }))
  const { boards, readUnreadSince } = handles.live
  const readBoard = createWallBoardReader({ db, boards, readUnreadSince })
  addScope(app, scope => wallRoutes(scope, { isOwnHost, readBoard, build: getBuild(handles) }))
  addScope(app, scope => publicPageRoutes(scope, buildPageTools(handles)))
}
