import { REGIONS, type Region } from '../../shared/check.ts'
import { MAIL_RULES } from '../accounts/mails/limits.ts'
import { operatorProjectId } from '../accounts/operator/store.ts'
import { LIMITS, type Limits } from '../accounts/plans.ts'
import { changeChannel, createChannel, resumeChannel } from '../alerts/channel-actions.ts'
import { deleteChannel } from '../alerts/channel-store.ts'
import { createRule } from '../alerts/rule-actions.ts'
import { rulesOfMonitors } from '../alerts/store.ts'
import { listProbes } from '../fleet/enrolment-store.ts'
import { changeMonitor, createMonitor, type MonitorTools } from '../monitors/actions.ts'
import type { MonitorCreate } from '../monitors/schema.ts'
import { lockMonitors } from '../monitors/store.ts'
import { newId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Sign } from '../platform/signer.ts'
import { deleteMonitor, leaveUnchecked } from '../verdict/actions.ts'
import { OPERATOR } from '../web/acting.ts'
import type { Caller } from '../web/auth.ts'
import { receiverUrl, targetUrl } from './address.ts'
import { INTERVAL_SECONDS, type Schedule, TIMEOUT_MS, WELL } from './schedule.ts'
import {
  allCanaries,
  type Canary,
  deleteCanaries,
  findCanaryProject,
  insertCanaryProject,
  lockCanaries,
  storeCanary,
  storeChannel,
} from './store.ts'

export type CanaryTools = Omit<MonitorTools, 'leaveUnchecked'> & { sign: Sign }

/** `origin`: where probes and deliveries reach the control plane, without a slash at the end. */
export type Wanted = Omit<Schedule, 'region'> & { origin: string }

/**
 * A canary for every region that has probes, all told through one signed webhook; again it changes what is there to what
 * is wanted, adds what is missing and deletes those of regions without probes. Ordinary monitors in a project of their
 * own, so that nothing on their way is special. Throws an Error with a sentence when there is no operator project or no
 * probe, 400 for an origin that may not be reached.
 */
export async function createCanaries(tools: CanaryTools, wanted: Wanted, now: Date): Promise<void> {
  await tools.db.transaction(async tx => {
    const inside = { ...tools, db: tx, leaveUnchecked }
    const existing = await lockAll(tx)
    const regions = await regionsWithProbes(tx)
    const { channelId, ...caller } = await openProject(tx, now)
    await deleteOthers(inside, caller.projectId, existing, regions, now)
    for (const region of regions) {
      const schedule = { ...wanted, region }
      const found = existing.find(canary => canary.region === region)
      const url = targetUrl(wanted.origin, schedule, tools.sign)
      const monitor = found
        ? await changeMonitor(inside, caller, found.monitorId, { url, assertions: ASSERTIONS }, now)
        : await createMonitor(inside, caller, bodyOf(region, url), now)
      await storeCanary(tx, schedule, monitor.id, now)
    }
    const channel = await createReceiver(inside, caller, channelId, wanted.origin, now)
    await storeChannel(tx, channel.id)
    await linkAll(tx, caller.projectId, channel.id, now)
  })
}

/** Deletes the canaries and their channel. What was measured stays. False when there are none. */
export async function removeCanaries(db: Db, publicUrl: string, now: Date): Promise<boolean> {
  return await db.transaction(async tx => {
    const canaries = await lockAll(tx)
    const project = await findCanaryProject(tx)
    if (project === null) return false
    await deleteOthers({ db: tx, publicUrl }, project.projectId, canaries, [], now)
    if (project.channelId !== null) await deleteChannel(tx, project.projectId, project.channelId)
    return canaries.length > 0
  })
}

/** The canaries, locked with their monitors until the transaction ends. */
async function lockAll(tx: Tx): Promise<Canary[]> {
  await lockCanaries(tx)
  const canaries = await allCanaries(tx)
  await lockMonitors(
    tx,
    canaries.map(({ monitorId }) => monitorId),
  )
  return canaries
}

type Inside = { db: Tx; publicUrl: string }

async function deleteOthers(inside: Inside, projectId: string, canaries: Canary[], kept: Region[], now: Date) {
  for (const { monitorId } of canaries.filter(({ region }) => !kept.includes(region))) {
    await deleteMonitor(inside, projectId, monitorId, now)
  }
  await deleteCanaries(inside.db, kept)
}

async function regionsWithProbes(db: Db): Promise<Region[]> {
  const probes = (await listProbes(db)).filter(({ isRevoked }) => !isRevoked)
  const regions = REGIONS.filter(region => probes.some(probe => probe.region === region))
  if (regions.length === 0)
    throw new Error('no probe is enrolled yet; a canary is made for each region that has probes')
  return regions
}

/** The canaries' project, made beside the operator project when it is not there, and the operator as its caller. */
async function openProject(tx: Tx, now: Date): Promise<Caller & { channelId: string | null }> {
  const found = (await findCanaryProject(tx)) ?? (await makeProject(tx, now))
  return { ...found, keyId: '', userId: null, scope: 'admin', isOperator: true, actor: OPERATOR }
}

async function makeProject(tx: Tx, now: Date) {
  const operatorId = await operatorProjectId(tx)
  if (operatorId === null) throw new Error('there is no operator project yet; "operator create" makes it')
  await insertCanaryProject(tx, newId(), operatorId, now)
  return (await findCanaryProject(tx))!
}

/** As a customer has it by default, two re-checks included: what is measured is what they get. */
const bodyOf = (region: Region, url: string): MonitorCreate => ({
  name: `Canary ${region}`,
  type: 'http',
  url,
  interval_seconds: INTERVAL_SECONDS,
  timeout_ms: TIMEOUT_MS,
  regions: [region],
  assertions: ASSERTIONS,
  screenshot_on_failure: false,
})

/** The target's answers are right or wrong by both, as customers' are. */
const ASSERTIONS = [
  { type: 'status_code', operator: 'equals', value: '2xx' },
  { type: 'body', operator: 'equals', value: WELL },
]

/** It is the operator's own project. */
const UNLIMITED: Limits = { ...LIMITS, alertChannels: { free: null, pro: null, business: null } }

async function createReceiver(tools: CanaryTools, caller: Caller, channelId: string | null, origin: string, now: Date) {
  // the config is made here, so it has the shape of its kind
  const inside = {
    ...tools,
    findFaults: () => [],
    limits: UNLIMITED,
    sendsMail: false,
    mailRules: MAIL_RULES,
    publicUrl: origin,
    relayUrl: null,
  }
  const config = { url: receiverUrl(origin, tools.sign) }
  if (channelId === null) {
    return (await createChannel(inside, caller, { name: 'Canaries', type: 'webhook', config }, now)).channel
  }
  await changeChannel(inside, caller, channelId, { config }, now)
  // an address that was wrong for long has paused it
  return await resumeChannel(tools.db, caller.projectId, channelId, now)
}

async function linkAll(tx: Tx, projectId: string, channelId: string, now: Date): Promise<void> {
  const ids = (await allCanaries(tx)).map(({ monitorId }) => monitorId)
  const rules = await rulesOfMonitors(tx, ids)
  const isLinked = (id: string) => rules.some(rule => rule.monitorId === id && rule.alertChannelId === channelId)
  for (const id of ids.filter(one => !isLinked(one))) {
    await createRule(tx, projectId, { monitor_id: id, alert_channel_id: channelId }, UNLIMITED.rulesPerMonitor, now)
  }
}
