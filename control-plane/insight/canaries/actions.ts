import { REGIONS, type Region } from '../../../shared/checks/check.ts'
import { MAIL_RULES } from '../../accounts/email/daily-limits/limits.ts'
import { findOperatorProjectId } from '../../accounts/organizations/operator-project-store.ts'
import { DEFAULT_LIMITS, type InstallationLimits } from '../../accounts/plans/plans.ts'
import { changeChannel, createChannel, resumeChannel } from '../../alerting/routing/alert-channels/actions.ts'
import { deleteChannel } from '../../alerting/routing/alert-channels/store.ts'
import { createRule } from '../../alerting/routing/rules/rule-actions.ts'
import { listRulesOfMonitors } from '../../alerting/routing/rules/rule-store.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import { newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR } from '../../foundation/web/auth/audit-actor.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import { listProbes } from '../../monitoring/fleet/probes/enrolment-store.ts'
import { changeMonitor, createMonitor, type MonitorTools } from '../../monitoring/monitors/actions.ts'
import type { MonitorCreate } from '../../monitoring/monitors/settings/schema.ts'
import { lockMonitors } from '../../monitoring/monitors/store.ts'
import { clearVerdict, deleteMonitor } from '../../verdict/core/monitor-lifecycle-actions.ts'
import { buildReceiverUrl, buildTargetUrl } from './canary-urls.ts'
import { CANARY_INTERVAL_SECONDS, CANARY_TIMEOUT_MS, type CanarySchedule, HEALTHY_BODY } from './schedule.ts'
import {
  type Canary,
  deleteCanaries,
  findCanaryProject,
  insertCanaryProject,
  loadCanaries,
  lockCanaries,
  saveCanary,
  saveReceiverChannel,
} from './store.ts'

export type CanaryTools = Omit<MonitorTools, 'leaveUnchecked'> & { sign: Signer }

/** `origin`: the address at which probes and deliveries reach the control plane, without a trailing slash. */
type CanarySettings = Omit<CanarySchedule, 'region'> & { origin: string }

/**
 * Creates a canary for each region that has probes, and one signed webhook for their alerts
 * (docs/design/history.md#canaries). Calling it again updates existing canaries, adds missing ones and deletes those of
 * regions without probes. Canaries are ordinary monitors in a project of their own, so they take the same path as all
 * others. Throws an Error with a sentence without an operator project or a probe, 400 for an origin that must not be
 * reached.
 */
export async function createCanaries(tools: CanaryTools, settings: CanarySettings, now: Date): Promise<void> {
  await tools.db.transaction(async tx => {
    const transactionTools = { ...tools, db: tx, leaveUnchecked: clearVerdict }
    const existing = await lockAllCanaries(tx)
    const regions = await regionsWithProbes(tx)
    const { channelId, ...caller } = await openProject(tx, now)
    await deleteOthers(transactionTools, caller.projectId, existing, regions, now)
    for (const region of regions) {
      const schedule = { ...settings, region }
      const found = existing.find(canary => canary.region === region)
      const url = buildTargetUrl(settings.origin, schedule, tools.sign)
      const monitor = found
        ? await changeMonitor(transactionTools, caller, found.monitorId, { url, assertions: ASSERTIONS }, now)
        : await createMonitor(transactionTools, caller, buildMonitorBody(region, url), now)
      await saveCanary(tx, schedule, monitor.id, now)
    }
    const channel = await createReceiver(transactionTools, caller, channelId, settings.origin, now)
    await saveReceiverChannel(tx, channel.id)
    await linkAll(tx, caller.projectId, channel.id, now)
  })
}

/** Deletes the canaries and their channel. Measurements are kept. False when there are none. */
export async function removeCanaries(db: Db, publicUrl: string, now: Date): Promise<boolean> {
  return await db.transaction(async tx => {
    const canaries = await lockAllCanaries(tx)
    const project = await findCanaryProject(tx)
    if (project === null) return false
    await deleteOthers({ db: tx, publicUrl }, project.projectId, canaries, [], now)
    if (project.channelId !== null) await deleteChannel(tx, project.projectId, project.channelId)
    return canaries.length > 0
  })
}

/** The canaries, locked with their monitors until the transaction ends. */
async function lockAllCanaries(tx: Tx): Promise<Canary[]> {
  await lockCanaries(tx)
  const canaries = await loadCanaries(tx)
  await lockMonitors(
    tx,
    canaries.map(({ monitorId }) => monitorId),
  )
  return canaries
}

type CanaryTransaction = { db: Tx; publicUrl: string }

async function deleteOthers(
  tools: CanaryTransaction,
  projectId: string,
  canaries: Canary[],
  kept: Region[],
  now: Date,
) {
  for (const { monitorId } of canaries.filter(({ region }) => !kept.includes(region))) {
    await deleteMonitor(tools, projectId, monitorId, now)
  }
  await deleteCanaries(tools.db, kept)
}

async function regionsWithProbes(db: Db): Promise<Region[]> {
  const probes = (await listProbes(db)).filter(({ isRevoked }) => !isRevoked)
  const regions = REGIONS.filter(region => probes.some(probe => probe.region === region))
  if (regions.length === 0)
    throw new Error('no probe is enrolled yet; a canary is created for each region that has probes')
  return regions
}

/**
 * The project of the canaries, created in the operator's organization when it does not exist, with the operator as its
 * caller.
 */
async function openProject(tx: Tx, now: Date): Promise<ApiCaller & { channelId: string | null }> {
  const found = (await findCanaryProject(tx)) ?? (await createProject(tx, now))
  return { ...found, keyId: '', userId: null, scope: 'admin', isOperator: true, actor: OPERATOR_ACTOR }
}

async function createProject(tx: Tx, now: Date) {
  const operatorId = await findOperatorProjectId(tx)
  if (operatorId === null) throw new Error('the operator project does not exist yet; create it with "operator create"')
  await insertCanaryProject(tx, newId(), operatorId, now)
  return (await findCanaryProject(tx))!
}

/** The defaults of customers, two re-checks included, so the measurements hold for them too. */
const buildMonitorBody = (region: Region, url: string): MonitorCreate => ({
  name: `Canary ${region}`,
  type: 'http',
  url,
  interval_seconds: CANARY_INTERVAL_SECONDS,
  timeout_ms: CANARY_TIMEOUT_MS,
  regions: [region],
  assertions: ASSERTIONS,
  screenshot_on_failure: false,
})

/** A status and a body assertion, as customers use them. */
const ASSERTIONS = [
  { type: 'status_code', operator: 'equals', value: '2xx' },
  { type: 'body', operator: 'equals', value: HEALTHY_BODY },
]

/** The canary project has no limits. */
const UNLIMITED: InstallationLimits = { ...DEFAULT_LIMITS, alertChannels: { free: null, pro: null, business: null } }

async function createReceiver(
  tools: CanaryTools,
  caller: ApiCaller,
  channelId: string | null,
  origin: string,
  now: Date,
) {
  // the config is built here, so it needs no validation
  const transactionTools = {
    ...tools,
    findFaults: () => [],
    limits: UNLIMITED,
    sendsMail: false,
    mailRules: MAIL_RULES,
    publicUrl: origin,
    relayUrl: null,
  }
  const config = { url: buildReceiverUrl(origin, tools.sign) }
  if (channelId === null) {
    return (await createChannel(transactionTools, caller, { name: 'Canaries', type: 'webhook', config }, now)).channel
  }
  await changeChannel(transactionTools, caller, channelId, { config }, now)
  // the channel pauses when its address was unreachable for long
  return await resumeChannel(tools.db, caller.projectId, channelId, now)
}

async function linkAll(tx: Tx, projectId: string, channelId: string, now: Date): Promise<void> {
  const ids = (await loadCanaries(tx)).map(({ monitorId }) => monitorId)
  const rules = await listRulesOfMonitors(tx, ids)
  const isLinked = (id: string) => rules.some(rule => rule.monitorId === id && rule.alertChannelId === channelId)
  for (const id of ids.filter(one => !isLinked(one))) {
    await createRule(tx, projectId, { monitor_id: id, alert_channel_id: channelId }, UNLIMITED.rulesPerMonitor, now)
  }
}
