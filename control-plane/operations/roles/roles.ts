import { hostname } from 'node:os'
import { startAccountsWorker } from '../../accounts/cleanup-worker.ts'
import { startAccountMailWorker } from '../../accounts/email/outbox/worker.ts'
import { startDeletionWorker } from '../../accounts/organizations/deletion/worker.ts'
import { startPauseNoticeWorker } from '../../alerting/deliveries/attempts/pause-notices/worker.ts'
import { startAddressEncryption } from '../../alerting/deliveries/rendering/address-encryption-worker.ts'
import { startDeliveryWorker } from '../../alerting/deliveries/worker.ts'
import { startRelaySourceWorker } from '../../alerting/routing/alert-channels/relay-source-worker.ts'
import { startDigestWorker } from '../../alerting/routing/digests/worker.ts'
import { startFanOutWorker } from '../../alerting/routing/publishing/fan-out-worker.ts'
import { startReminderWorker } from '../../alerting/routing/reminders/worker.ts'
import type { ProcessRole } from '../../config.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import type { Loop } from '../../foundation/platform/time/loop.ts'
import { startHourlyWorker } from '../../insight/analytics/clickhouse-jobs/hourly-worker.ts'
import { startPartitionMigrationWorker } from '../../insight/analytics/clickhouse-jobs/partition-migration-worker.ts'
import { startRecorder } from '../../insight/analytics/recording/recorder.ts'
import { startCanaryWorker } from '../../insight/canaries/worker.ts'
import { startChangeCleanup } from '../../insight/live/cleanup-worker.ts'
import { startChatWorker } from '../../integrations/chat/worker.ts'
import { startDataSourceWorker } from '../../integrations/data-sources/fetching/worker.ts'
import { startImportCleanup } from '../../integrations/import-export/jobs/cleanup-worker.ts'
import { startVendorWorker } from '../../integrations/vendors/feed-reading/worker.ts'
import { startFleet } from '../../monitoring/fleet/worker.ts'
import { startScreenshotRecorder } from '../../monitoring/screenshots/intake/recorder.ts'
import { startScreenshotPruneWorker } from '../../monitoring/screenshots/prune-worker.ts'
import { startImageWorker } from '../../pages/admin/image-worker.ts'
import { startNoticeWorker, startSubscriberCleanup } from '../../pages/subscribers/worker.ts'
import { storeCertificates } from '../../verdict/expiry/actions.ts'
import { startExpiryWorker } from '../../verdict/expiry/worker.ts'
import { startQueuedPingRecorder } from '../../verdict/heartbeats/intake/queued-ping-recorder.ts'
import { startIntakeAliveWorker, startOverdueWorker, startPingTokenWorker } from '../../verdict/heartbeats/worker.ts'
import { startIncidentCountWorker } from '../../verdict/incidents/count-worker.ts'
import { startFleetCheckWorker } from '../../verdict/incidents/operator-incidents/fleet-check-worker.ts'
import { startMaintenanceWorker } from '../../verdict/maintenance/worker.ts'
import { startVerdictWorker } from '../../verdict/reader/worker.ts'
import { startSuppressionWorker } from '../../verdict/suppression/worker.ts'
import { startClockStepWorker } from '../clock-steps/worker.ts'
import { startHealthWorker } from '../health/worker.ts'
import { startRetentionWorker } from '../retention/worker.ts'
import type { ProcessContext } from './context.ts'
import { buildChatTools } from './tools.ts'

/** A component that runs until it is stopped, and the notifications that it needs. */
export type RoleComponent = {
  stop(): Promise<unknown>
  /** by channel: called on each NOTIFY, and without a payload after each reconnect to PostgreSQL */
  onNotify?: Record<string, (payload: string) => void>
  grpcPort?: number
}

/** The components of each role, in addition to the HTTP servers; the role `api` also has the routes of api-routes.ts. */
export const ROLE_STARTERS: Record<
  ProcessRole,
  ((handles: ProcessContext) => RoleComponent | Promise<RoleComponent>)[]
> = {
  api: [wakeOnNotify('heartbeats', startIntakeAliveWorker), withPublicUrl(startQueuedPingRecorder), startLive],
  fleet: [startFleetServer],
  verdict: [startVerdicts],
  record: [
    wakeOnNotify('monitors', handles =>
      startRecorder({ ...handles, onMissingSchema: handles.history.requestMigration }),
    ),
    startHourlyWorker,
    startPartitionMigrationWorker,
    startScreenshotRecorder,
  ],
  deliver: [
    wakeOnNotify('fan_outs', startFanOutWorker),
    wakeOnNotify('digests', startDigestWorker),
    startDeliveries,
    startAddressEncryption,
    startRelaySourceWorker,
    startNotices,
    startAccountMails,
  ],
  schedule: [
    startAccountsWorker,
    startClockStepWorker,
    startDeletionWorker,
    handles => startScreenshotPruneWorker({ ...handles, ...handles.config.screenshots }),
    handles => startExpiryWorker({ ...handles, ...handles.config }),
    withPublicUrl(startOverdueWorker),
    startPingTokenWorker,
    startReminderWorker,
    withPublicUrl(startFleetCheckWorker),
    startIncidentCountWorker,
    startHealthWorker,
    startMaintenanceWorker,
    wakeOnNotify('silences', startSuppressionWorker),
    startCanaryWorker,
    startDataSources,
    startChat,
    startSubscriberCleanup,
    wakeOnNotify('page_images', startImageWorker),
    handles => startVendorWorker({ ...handles, ...handles.config }),
    handles => startRetentionWorker({ ...handles, ...handles.config }),
    startChangeCleanup,
    startImportCleanup,
  ],
}

/** Starts a loop that is woken by a NOTIFY on `channel`. */
function wakeOnNotify(
  channel: string,
  start: (handles: ProcessContext) => Loop,
): (handles: ProcessContext) => RoleComponent {
  return handles => {
    const { stop, wake } = start(handles)
    return { stop, onNotify: { [channel]: wake } }
  }
}

function withPublicUrl(
  start: (tools: ProcessContext & { publicUrl: string }) => RoleComponent,
): (handles: ProcessContext) => RoleComponent {
  return handles => start({ ...handles, publicUrl: handles.config.publicUrl })
}

function startDataSources(handles: ProcessContext): RoleComponent {
  const worker = startDataSourceWorker({ ...handles, publicUrl: handles.config.publicUrl })
  return { stop: worker.stop, onNotify: { data_sources: worker.wake } }
}

/** Without a mail server there is nothing to send. */
function startAccountMails({ mailer, ...handles }: ProcessContext): RoleComponent {
  if (mailer === null) return { stop: async () => {} }
  const { publicUrl } = handles.config
  const worker = startAccountMailWorker({ ...handles, mailer, publicUrl })
  const pauseNotices = startPauseNoticeWorker({ ...handles, publicUrl })
  return {
    stop: () => Promise.all([worker.stop(), pauseNotices.stop()]),
    onNotify: { account_mails: worker.wake },
  }
}

function startDeliveries(handles: ProcessContext): RoleComponent {
  const { publicUrl, relayUrl, chatApiUrl, mailRules, webhookBurst } = handles.config
  const worker = startDeliveryWorker({ ...handles, publicUrl, relayUrl, chatApiUrl, mailRules, webhookBurst })
  return { stop: worker.stop, onNotify: { deliveries: worker.wake, relay: worker.wakeRelay } }
}

function startLive({ live }: ProcessContext): RoleComponent {
  const { stop, onChange } = live.start()
  return { stop, onNotify: { project_changes: onChange } }
}

async function startFleetServer(handles: ProcessContext): Promise<RoleComponent> {
  const { databaseUrl, host, grpcPort, grpcTls, probeNatsUrl, grpcReflection: reflection } = handles.config
  const { grpcConnectionsPerAddress: connectionsPerAddress } = handles.config
  const processName = `${hostname()}-${process.pid}`
  const { suspicion } = handles.pools
  const admissionsDb = handles.pools.getAdmissions()
  const own = {
    databaseUrl,
    admissionsDb,
    suspicion,
    processName,
    host,
    port: grpcPort,
    tls: grpcTls,
    natsUrl: probeNatsUrl,
  }
  const fleet = await startFleet({ ...handles, ...own, reflection, connectionsPerAddress })
  return { stop: fleet.stop, grpcPort: fleet.port }
}

function startChat(handles: ProcessContext): RoleComponent {
  const worker = startChatWorker({ ...handles, ...buildChatTools(handles) })
  return { stop: worker.stop, onNotify: { chat: worker.wake } }
}

function startNotices(handles: ProcessContext): RoleComponent {
  const worker = startNoticeWorker({ ...handles, publicUrl: handles.config.publicUrl })
  return { stop: worker.stop, onNotify: { page_notices: worker.wake } }
}

async function startVerdicts(handles: ProcessContext): Promise<RoleComponent> {
  const verdict = await startVerdictWorker({
    ...handles,
    leases: handles.pools.leases,
    publicUrl: handles.config.publicUrl,
    storeCertificates: seen => storeCertificates(handles.db, seen, now()),
  })
  return { stop: verdict.stop, onNotify: { monitors: verdict.wake } }
}
