import { overRules } from '../accounts/plans.ts'
import { isId, newId } from '../platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../platform/postgres.ts'
import { conflict, notFound, tierLimitReached } from '../web/errors.ts'
import { namesNothing } from '../web/names-nothing.ts'
import { beginReminders, moveReminder } from './reminder-actions.ts'
import type { RuleCreate, RuleUpdate } from './schema.ts'
import {
  countRules,
  findRule,
  holdChannels,
  insertRules,
  lockMonitorsOf,
  lockRule,
  type StoredRule,
  updateRule,
} from './store.ts'

export type NewRule = RuleCreate & Pick<RuleUpdate, 'remind_every_minutes'>

/**
 * Throws 404 for a monitor or channel that the project does not have, 409 when the pair has a rule, and 402 when the
 * monitor would have more than `limit`.
 */
export async function createRule(
  db: Db,
  projectId: string,
  body: NewRule,
  limit: number,
  now: Date,
): Promise<StoredRule> {
  const [rule] = await createRules(db, projectId, [body], limit, now)
  return rule!
}

/** All of some rules, or none. Throws as createRule does. */
export async function createRules(
  db: Db,
  projectId: string,
  bodies: NewRule[],
  limit: number,
  now: Date,
): Promise<StoredRule[]> {
  const rules = bodies.map(body => ({
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
  }))
  return await db.transaction(async tx => {
    await holdPairs(tx, projectId, rules)
    await refusePairsTwice(() => insertRules(tx, rules))
    await assertFewRules(tx, rules, limit)
    await beginReminders(tx, rules, now)
    return rules
  })
}

/** Changes what the body names. Throws as createRule does, and 404 for an unknown rule. */
export async function changeRule(db: Db, projectId: string, id: string, body: RuleUpdate, limit: number, now: Date) {
  return await db.transaction(async tx => {
    const found = isId(id) ? await findRule(tx, projectId, id) : null
    if (!found) throw notFound('rule')
    const monitorId = body.monitor_id?.toLowerCase() ?? found.monitorId
    const alertChannelId = body.alert_channel_id?.toLowerCase() ?? found.alertChannelId
    await holdPairs(tx, projectId, [{ monitorId, alertChannelId }])
    const locked = await lockRule(tx, projectId, id)
    if (!locked) throw notFound('rule')
    const rule = {
      ...locked,
      monitorId,
      alertChannelId,
      onDown: body.on_down ?? locked.onDown,
      onRecovery: body.on_recovery ?? locked.onRecovery,
      onDegraded: body.on_degraded ?? locked.onDegraded,
      remindEveryMinutes:
        body.remind_every_minutes === undefined ? locked.remindEveryMinutes : body.remind_every_minutes,
      updatedAt: namesNothing(body) ? locked.updatedAt : now,
    }
    await refusePairsTwice(() => updateRule(tx, rule))
    if (monitorId !== locked.monitorId) await assertFewRules(tx, [rule], limit)
    await moveReminder(tx, locked, rule, now)
    return rule
  })
}

/** Throws 402 when a monitor has more rules than `limit` now. The monitors are locked. */
async function assertFewRules(tx: Tx, rules: { monitorId: string }[], limit: number): Promise<void> {
  const refusal = overRules(await countRules(tx, [...new Set(rules.map(({ monitorId }) => monitorId))]), limit)
  if (refusal !== null) throw tierLimitReached(refusal)
}

type Pair = Pick<StoredRule, 'monitorId' | 'alertChannelId'>

async function holdPairs(tx: Tx, projectId: string, pairs: Pair[]): Promise<void> {
  const monitorIds = pairs.map(({ monitorId }) => monitorId)
  const channelIds = pairs.map(({ alertChannelId }) => alertChannelId)
  if (!monitorIds.every(isId) || !(await lockMonitorsOf(tx, projectId, monitorIds))) throw notFound('monitor')
  if (!channelIds.every(isId) || !(await holdChannels(tx, projectId, channelIds))) throw notFound('channel')
}

async function refusePairsTwice(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict('this channel has a rule for this monitor already')
  }
}
