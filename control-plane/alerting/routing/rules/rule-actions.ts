import { checkRuleLimit } from '../../../accounts/plans/plans.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { assertRequestVersion } from '../../../foundation/web/conditions/version-actions.ts'
import { conflict, found, notFound, tierLimitReached } from '../../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../../foundation/web/validation/empty-update.ts'
import { rescheduleReminder, startReminders } from '../reminders/actions.ts'
import type { RuleCreate, RuleUpdate } from '../schemas.ts'
import {
  countRules,
  findRule,
  holdChannels,
  holdMonitors,
  insertRules,
  lockMonitorsForRules,
  lockRule,
  type StoredRule,
  updateRule,
} from './rule-store.ts'

/**
 * Creates a rule. Throws 404 for an unknown monitor or channel, 409 when the pair has a rule, and 402 when the monitor
 * would have more than `limit` rules.
 */
export async function createRule(
  db: Db,
  projectId: string,
  body: RuleCreate,
  limit: number,
  now: Date,
): Promise<StoredRule> {
  const [rule] = await createRules(db, projectId, [body], limit, now)
  return rule!
}

/** Creates all of the rules, or none. Throws as createRule does. */
export async function createRules(
  db: Db,
  projectId: string,
  bodies: RuleCreate[],
  limit: number,
  now: Date,
): Promise<StoredRule[]> {
  const rules = bodies.map(body => buildRule(projectId, body, now))
  return await db.transaction(async tx => {
    await lockPairs(tx, projectId, rules)
    await assertRoomForRules(tx, rules, limit)
    await refuseDuplicatePairs(() => insertRules(tx, rules))
    await startReminders(tx, rules, now)
    return rules
  })
}

/** The rule that a body describes, with the defaults. */
export const buildRule = (projectId: string, body: RuleCreate, now: Date): StoredRule => ({
  id: newId(),
  projectId,
  monitorId: body.monitor_id.toLowerCase(),
  alertChannelId: body.alert_channel_id.toLowerCase(),
  onDown: body.on_down ?? true,
  onRecovery: body.on_recovery ?? true,
  onDegraded: body.on_degraded ?? false,
  remindEveryMinutes: body.remind_every_minutes ?? null,
  createdAt: now,
  updatedAt: now,
})

/** Changes the given fields of a rule. Throws as createRule does, and 404 for an unknown rule. */
export async function changeRule(db: Db, projectId: string, id: string, body: RuleUpdate, limit: number, now: Date) {
  const { id: _, created_at, updated_at, ...settings } = body
  return await db.transaction(async tx => {
    const current = found(isId(id) && (await findRule(tx, projectId, id)), 'rule')
    const monitorId = body.monitor_id?.toLowerCase() ?? current.monitorId
    const alertChannelId = body.alert_channel_id?.toLowerCase() ?? current.alertChannelId
    await lockPairs(tx, projectId, [{ monitorId, alertChannelId }])
    const locked = found(await lockRule(tx, projectId, id), 'rule')
    await assertRequestVersion(tx)
    const rule = {
      ...locked,
      monitorId,
      alertChannelId,
      onDown: body.on_down ?? locked.onDown,
      onRecovery: body.on_recovery ?? locked.onRecovery,
      onDegraded: body.on_degraded ?? locked.onDegraded,
      remindEveryMinutes:
        body.remind_every_minutes === undefined ? locked.remindEveryMinutes : body.remind_every_minutes,
      updatedAt: isEmptyUpdate(settings) ? locked.updatedAt : now,
    }
    if (monitorId !== locked.monitorId) await assertRoomForRules(tx, [rule], limit)
    await refuseDuplicatePairs(() => updateRule(tx, rule))
    await rescheduleReminder(tx, locked, rule, now)
    return rule
  })
}

/** Throws 402 when a monitor would have more than `limit` rules with these. The monitors are locked. */
async function assertRoomForRules(tx: Tx, added: { monitorId: string }[], limit: number): Promise<void> {
  const ids = added.map(({ monitorId }) => monitorId)
  const counts = await countRules(tx, [...new Set(ids)])
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  const refusal = checkRuleLimit([...counts.values()], limit)
  if (refusal !== null) throw tierLimitReached(refusal)
}

/** The monitors cannot be deleted until the transaction ends. Throws 404 for the first id that is not a monitor of the project. */
export const holdKnownMonitors = (tx: Tx, projectId: string, ids: string[]): Promise<void> =>
  assertMonitors(ids, () => holdMonitors(tx, projectId, ids))

/** `listMissing` is called with valid ids only. */
async function assertMonitors(ids: string[], listMissing: () => Promise<string[]>): Promise<void> {
  const missing = ids.find(id => !isId(id)) ?? (await listMissing())[0]
  if (missing !== undefined) throw notFound('monitor', missing)
}

type Pair = Pick<StoredRule, 'monitorId' | 'alertChannelId'>

async function lockPairs(tx: Tx, projectId: string, pairs: Pair[]): Promise<void> {
  const monitorIds = pairs.map(({ monitorId }) => monitorId)
  const channelIds = pairs.map(({ alertChannelId }) => alertChannelId)
  await assertMonitors(monitorIds, () => lockMonitorsForRules(tx, projectId, monitorIds))
  if (!channelIds.every(isId) || !(await holdChannels(tx, projectId, channelIds))) throw notFound('channel')
}

async function refuseDuplicatePairs(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict('a rule for this monitor and this channel already exists')
  }
}
