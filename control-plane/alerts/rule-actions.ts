import { isId, newId } from '../platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../platform/postgres.ts'
import { conflict, notFound } from '../web/errors.ts'
import { moveReminder } from './reminder-actions.ts'
import type { RuleCreate, RuleUpdate } from './schema.ts'
import { findRule, holdChannel, holdMonitor, insertRule, lockRule, type StoredRule, updateRule } from './store.ts'

/** Throws 404 for a monitor or channel that the project does not have, 409 when the pair has a rule. */
export async function createRule(db: Db, projectId: string, body: RuleCreate, now: Date): Promise<StoredRule> {
  const rule = {
    id: newId(),
    projectId,
    monitorId: body.monitor_id.toLowerCase(),
    alertChannelId: body.alert_channel_id.toLowerCase(),
    onDown: body.on_down ?? true,
    onRecovery: body.on_recovery ?? true,
    onDegraded: body.on_degraded ?? false,
    remindEveryMinutes: null,
    createdAt: now,
    updatedAt: now,
  }
  return await db.transaction(async tx => {
    await holdPair(tx, rule)
    await refusePairsTwice(() => insertRule(tx, rule))
    return rule
  })
}

/** Changes what the body names. Throws 404 and 409 as createRule does, and 404 for an unknown rule. */
export async function changeRule(db: Db, projectId: string, id: string, body: RuleUpdate, now: Date) {
  return await db.transaction(async tx => {
    const found = isId(id) ? await findRule(tx, projectId, id) : null
    if (!found) throw notFound('rule')
    const monitorId = body.monitor_id?.toLowerCase() ?? found.monitorId
    const alertChannelId = body.alert_channel_id?.toLowerCase() ?? found.alertChannelId
    await holdPair(tx, { projectId, monitorId, alertChannelId })
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
      updatedAt: now,
    }
    await refusePairsTwice(() => updateRule(tx, rule))
    await moveReminder(tx, locked, rule, now)
    return rule
  })
}

type Pair = Pick<StoredRule, 'projectId' | 'monitorId' | 'alertChannelId'>

async function holdPair(tx: Tx, { projectId, monitorId, alertChannelId }: Pair): Promise<void> {
  if (!isId(monitorId) || !(await holdMonitor(tx, projectId, monitorId))) throw notFound('monitor')
  if (!isId(alertChannelId) || !(await holdChannel(tx, projectId, alertChannelId))) throw notFound('channel')
}

async function refusePairsTwice(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw conflict('this channel has a rule for this monitor already')
  }
}
