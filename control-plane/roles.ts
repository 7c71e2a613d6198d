import { hostname } from 'node:os'
import { startAccountMailWorker } from './accounts/mails/worker.ts'
import { startDeletionWorker } from './accounts/organizations/worker.ts'
import { startAccountsWorker } from './accounts/worker.ts'
import { startDigestWorker } from './alerts/digest-worker.ts'
import { startFanOutWorker } from './alerts/fan-out-worker.ts'
import { startRelaySourceWorker } from './alerts/relay-source-worker.ts'
import { startReminderWorker } from './alerts/reminder-worker.ts'
import { startDailyWorker } from './analytics/daily-worker.ts'
import { startRecorder } from './analytics/recorder.ts'
import { startHourlyWorker } from './analytics/worker.ts'
import { startCanaryWorker } from './canaries/worker.ts'
import { startChatWorker } from './chat/worker.ts'
import { startClockStepWorker } from './clock-steps/worker.ts'
import type { Role } from './config.ts'
import { startDataSourceWorker } from './data-sources/worker.ts'
import { startAddressSealing } from './deliveries/seal-worker.ts'
import { startDeliveryWorker } from './deliveries/worker.ts'
import { storeCertificates } from './expiry/actions.ts'
import { startExpiryWorker } from './expiry/worker.ts'
import { startFleet } from './fleet/worker.ts'
import { startHealthWorker } from './health/worker.ts'
import { startKeptPingRecorder } from './heartbeats/recorder.ts'
import { startListening, startOverdueWorker, startPingTokenWorker } from './heartbeats/worker.ts'
import { startIncidentCountWorker } from './incidents/count-worker.ts'
import { startFleetWatchWorker } from './incidents/fleet-watch-worker.ts'
import { startMaintenanceWorker } from './maintenance/worker.ts'
import { now } from './platform/clock.ts'
import type { Loop } from './platform/loop.ts'
import { startVerdict } from './results/worker.ts'
import { startRetentionWorker } from './retention/worker.ts'
import { chatTools } from './roles/tools.ts'
import { startScreenshotRecorder } from './screenshots/recorder.ts'
import { startScreenshotWorker } from './screenshots/worker.ts'
import { startSilencesWorker } from './silences/worker.ts'
import type { Handles } from './start.ts'
import { startImageWorker } from './status-pages/image-worker.ts'
import { startNoticeWorker, startSubscriberCleaning } from './status-pages/subscribers/worker.ts'
import { startVendorWorker } from './vendors/worker.ts'

/** Something that runs until it is stopped, and what it wants to hear of. */
export type Part = {
  stop(): Promise<unknown>
  /** called on each NOTIFY of the channel and after each reconnect to PostgreSQL */
  onNotify?: Record<string, () => void>
  grpcPort?: number
}

/** What each role runs beside the HTTP server; `api` also the routes above. */
export const STARTERS: Record<Role, ((handles: Handles) => Part | Promise<Part>)[]> = {
  api: [startListening, withPublicUrl(startKeptPingRecorder)],
  fleet: [startFleetServer],
  verdict: [startVerdicts],
  record: [wokenBy('monitors', startRecorder), startHourlyWorker, startDailyWorker, startScreenshotRecorder],
  deliver: [
    wokenBy('fan_outs', startFanOutWorker),
    wokenBy('digests', startDigestWorker),
    startDeliveries,
    startAddressSealing,
    startRelaySourceWorker,
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
  const { publicUrl, relayUrl, chatApiUrl, mailRules, webhookBurst } = handles.config
  const worker = startDeliveryWorker({ ...handles, publicUrl, relayUrl, chatApiUrl, mailRules, webhookBurst })
  return { stop: worker.stop, onNotify: { deliveries: worker.wake, relay: worker.wakeRelay } }
}

async function startFleetServer(handles: Handles): Promise<Part> {
  const { databaseUrl, host, grpcPort, grpcTls, probeNatsUrl, grpcReflection: reflection } = handles.config
  const { grpcConnectionsPerAddress: connectionsPerAddress } = handles.config
  const processName = `${hostname()}-${process.pid}`
  const { suspicion } = handles.pools
  const own = { databaseUrl, suspicion, processName, host, port: grpcPort, tls: grpcTls, natsUrl: probeNatsUrl }
  const fleet = await startFleet({ ...handles, ...own, reflection, connectionsPerAddress })
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
