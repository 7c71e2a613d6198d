import { checkRuleLimit, type InstallationLimits } from '../../accounts/plans/plans.ts'
import { startReminders } from '../../alerting/routing/reminders/actions.ts'
import { buildRule } from '../../alerting/routing/rules/rule-actions.ts'
import {
  deleteRules,
  holdExistingChannels,
  insertRules,
  listRulesOfMonitors,
  type StoredRule,
} from '../../alerting/routing/rules/rule-store.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../foundation/web/auth/authentication.ts'
import { ApiError, found, notFound, tierLimitReached, validationError } from '../../foundation/web/server/errors.ts'
import { type SchemaCheck, toErrorDetails } from '../../foundation/web/validation/validation-errors.ts'
import {
  computeUpdate,
  type MonitorRewrite,
  type MonitorTools,
  storeRewrites,
} from '../../monitoring/monitors/actions.ts'
import { listMonitorsByIds, lockProjectMonitors } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import {
  assertDeletable,
  pauseLockedMonitors,
  resumeLockedMonitors,
  retireMonitors,
} from '../core/monitor-lifecycle-actions.ts'
import { scheduleFetch } from '../core/store.ts'
import { validateSilenceEnd } from '../silences/limits.ts'
import { loadActiveSilences } from '../silences/store.ts'
import { diffMonitor, type MonitorDifference } from './difference.ts'
import type { ChangeTarget } from './request.ts'
import { type NewSilences, replaceSilences } from './silence-actions.ts'

export type BulkChangeTools = MonitorTools & {
  limits: InstallationLimits
  /** the schema of an update of a monitor */
  checkUpdate: SchemaCheck
  /** of this request */
  newSilences: NewSilences
}

/** What a change does to one monitor, or why it is refused. `name` null: the monitor does not exist. */
export type ItemOutcome = {
  monitorId: string
  name: string | null
  difference: MonitorDifference | null
  error: ApiError | null
}

type PlannedItem = ItemOutcome & { rewrite: MonitorRewrite | null; addedRules: StoredRule[] }

/** Computes what changes of some monitors would do. Changes nothing. */
export async function planChunk(
  tools: BulkChangeTools,
  caller: ApiCaller,
  targets: readonly ChangeTarget[],
  now: Date,
): Promise<ItemOutcome[]> {
  const read = await listMonitorsByIds(tools.db, listIds(targets))
  const monitors = read.filter(({ projectId }) => projectId === caller.projectId)
  return await planItems(tools, tools.db, caller, targets, monitors, now)
}

/**
 * Changes some monitors in one transaction, which locks them in the order of ids. A monitor that is refused stays as it is,
 * the others change.
 */
export async function applyChunk(
  tools: BulkChangeTools,
  caller: ApiCaller,
  targets: readonly ChangeTarget[],
  now: Date,
): Promise<ItemOutcome[]> {
  const { projectId } = caller
  return await tools.db.transaction(async tx => {
    const resumed = listIds(targets.filter(({ change }) => change.is_paused === false))
    // before the monitors: the order of locks of the code that reads a data source
    if (resumed.length > 0) await scheduleFetch(tx, projectId, resumed, now)
    const monitors = await lockProjectMonitors(tx, projectId, listIds(targets))
    const items = await planItems(tools, tx, caller, targets, monitors, now)
    await storeItems(tools, tx, items, monitors, now)
    await replaceSilences(tx, projectId, tools.newSilences, items, now)
    return items
  })
}

const listIds = (targets: readonly ChangeTarget[]) => targets.map(({ monitorId }) => monitorId).filter(isId)

async function planItems(
  tools: BulkChangeTools,
  db: Db,
  caller: ApiCaller,
  targets: readonly ChangeTarget[],
  monitors: readonly StoredMonitor[],
  now: Date,
): Promise<PlannedItem[]> {
  const byId = new Map(monitors.map(monitor => [monitor.id, monitor]))
  const edits = targets.flatMap(({ change }) => change.alert_rules ?? [])
  const channelIds = edits.flatMap(({ add = [] }) => add.map(rule => rule.alert_channel_id.toLowerCase())).filter(isId)
  const channels = channelIds.length > 0 ? await holdExistingChannels(db, caller.projectId, channelIds) : new Set()
  const rules = edits.length > 0 ? await listRulesOfMonitors(db, [...byId.keys()]) : []
  const silenced = targets.filter(({ change }) => change.silence !== undefined).map(({ monitorId }) => monitorId)
  const silences = await loadActiveSilences(
    db,
    silenced.filter(id => byId.has(id)),
    now,
  )
  const items: PlannedItem[] = []
  for (const target of targets) {
    const { monitorId } = target
    const stored = byId.get(monitorId)
    const item = { monitorId, name: stored?.name ?? null, difference: null, rewrite: null, addedRules: [], error: null }
    const own = rules.filter(rule => rule.monitorId === monitorId)
    try {
      const difference = diffMonitor(found(stored, 'monitor'), own, silences.get(monitorId) ?? null, target.change)
      assertSilence(difference, now)
      assertRules(difference, own.length, channels, tools.limits)
      if (difference.isDeleted) assertDeletable(stored!)
      const rewrite = await planRewrite(tools, caller, stored!, difference, now)
      const addedRules = difference.addedRules.map(rule =>
        buildRule(caller.projectId, { monitor_id: monitorId, ...rule }, now),
      )
      items.push({ ...item, difference, rewrite, addedRules })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      items.push({ ...item, error })
    }
  }
  return items
}

function assertSilence({ silence }: MonitorDifference, now: Date): void {
  const problems = silence ? validateSilenceEnd('silence.until', new Date(silence.until), now) : []
  if (problems.length > 0) throw validationError(problems)
}

function assertRules(
  { addedRules, removedRules }: MonitorDifference,
  count: number,
  channels: ReadonlySet<unknown>,
  limits: InstallationLimits,
): void {
  if (addedRules.some(rule => !channels.has(rule.alert_channel_id))) throw notFound('channel')
  if (addedRules.length === 0) return
  const refusal = checkRuleLimit([count + addedRules.length - removedRules.length], limits.rulesPerMonitor)
  if (refusal !== null) throw tierLimitReached(refusal)
}

async function planRewrite(
  tools: BulkChangeTools,
  caller: ApiCaller,
  stored: StoredMonitor,
  { update }: MonitorDifference,
  now: Date,
): Promise<MonitorRewrite | null> {
  if (Object.keys(update).length === 0) return null
  if (!tools.checkUpdate(update)) throw validationError(toErrorDetails(tools.checkUpdate.errors ?? [], 'monitor'))
  return await computeUpdate(tools, caller, stored, update, now)
}

/** Stores what was planned, in a few statements for all items. */
async function storeItems(
  tools: BulkChangeTools,
  tx: Tx,
  items: readonly PlannedItem[],
  locked: readonly StoredMonitor[],
  now: Date,
): Promise<void> {
  const rewritten = await storeRewrites(
    tools,
    tx,
    items.flatMap(({ rewrite }) => rewrite ?? []),
    now,
  )
  const monitors = new Map([...locked, ...rewritten].map(monitor => [monitor.id, monitor]))
  const select = (isSelected: (difference: MonitorDifference) => boolean) =>
    items.flatMap(({ monitorId, difference }) =>
      difference && isSelected(difference) ? (monitors.get(monitorId) ?? []) : [],
    )
  const paused = select(({ isPaused }) => isPaused === true)
  if (paused.length > 0) await pauseLockedMonitors(tx, paused, tools.publicUrl, now)
  const resumed = select(({ isPaused }) => isPaused === false).map(({ id }) => id)
  if (resumed.length > 0) await resumeLockedMonitors(tx, resumed, now)
  const deleted = select(({ isDeleted }) => isDeleted)
  if (deleted.length > 0) await retireMonitors(tx, deleted, 'deleted', tools.publicUrl, now)
  const removedRules = items.flatMap(({ difference }) => difference?.removedRules ?? [])
  if (removedRules.length > 0) {
    await deleteRules(
      tx,
      removedRules.map(({ id }) => id),
    )
  }
  const addedRules = items.flatMap(item => item.addedRules)
  if (addedRules.length === 0) return
  await insertRules(tx, addedRules)
  await startReminders(tx, addedRules, now)
}
