import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import { insertEvents } from '../../events/store.ts'
import { groupIntoDigests } from '../digests/actions.ts'
import { listRulesOfMonitors, type StoredRule } from '../rules/rule-store.ts'
import { buildReminderEvent, computeFirstReminderAt, type DueReminder, isStillDue, planReminder } from './reminder.ts'
import {
  claimDueReminders,
  deleteReminders,
  insertRemindersForOpenIncidents,
  listCausingMonitors,
  updateReminders,
} from './store.ts'

/** Starts the reminders of new rules whose monitors have an open outage. The caller holds the monitors. */
export async function startReminders(tx: Tx, rules: StoredRule[], now: Date): Promise<void> {
  const starting = rules.flatMap(({ id, monitorId, onDown, remindEveryMinutes }) =>
    onDown && remindEveryMinutes !== null
      ? [{ id, monitorId, dueAt: computeFirstReminderAt(remindEveryMinutes, now) }]
      : [],
  )
  await insertRemindersForOpenIncidents(tx, starting)
}

/** Starts again the reminders of an incident that was reopened during its outage. The caller holds its monitor. */
export async function restartReminders(tx: Tx, incidentId: string, now: Date): Promise<void> {
  const monitorIds = await listCausingMonitors(tx, incidentId)
  if (monitorIds.length > 0) await startReminders(tx, await listRulesOfMonitors(tx, monitorIds), now)
}

/** Adapts the reminder of an open outage to a changed rule. The caller holds the rule and its monitor. */
export async function rescheduleReminder(tx: Tx, before: StoredRule, after: StoredRule, now: Date): Promise<void> {
  const isSamePair = before.monitorId === after.monitorId && before.alertChannelId === after.alertChannelId
  const everyMinutes = after.onDown ? after.remindEveryMinutes : null
  if (everyMinutes === null || !isSamePair) await deleteReminders(tx, [after.id])
  const isSame = isSamePair && before.remindEveryMinutes === everyMinutes && before.onDown
  if (everyMinutes === null || isSame) return
  await startReminders(tx, [after], now)
}

/**
 * Sends due reminders (docs/design/alerting.md#reminders):
 * 1. Claim at most `limit` reminders. Monitors that another transaction holds are skipped. The claimed ones cannot recover
 *    before the end of the transaction, so no reminder follows a recovery.
 * 2. Delete the reminders of outages that ended.
 * 3. Queue the others, except for monitors that are suppressed, not `down`, or whose status may be out of date.
 * 4. Set the next times.
 * Returns how many it claimed.
 */
export async function sendDueReminders(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const due = await claimDueReminders(tx, limit, now)
    const current = due.filter(isStillDue)
    const hasEnded = (reminder: DueReminder) => !isStillDue(reminder)
    await deleteReminders(
      tx,
      due.filter(hasEnded).map(reminder => reminder.ruleId),
    )
    const planned = current.map(reminder => ({ reminder, ...planReminder(reminder, now) }))
    await enqueueReminders(
      tx,
      planned.flatMap(({ reminder, isSent }) => (isSent ? reminder : [])),
      now,
    )
    await updateReminders(
      tx,
      planned.map(({ reminder, isSent, dueAt }) => ({ ruleId: reminder.ruleId, dueAt, wasSent: isSent })),
    )
    return due.length
  })
}

/** Queues one event for each monitor, to the channels of all its due rules. */
async function enqueueReminders(tx: Tx, reminders: DueReminder[], now: Date): Promise<void> {
  const events = new Map(reminders.map(reminder => [reminder.monitor.id, buildReminderEvent(newId(), reminder, now)]))
  await insertEvents(tx, [...events.values()])
  const deliveries = reminders.map(({ projectId, channelId, monitor, sentCount }) => {
    const { id, name, subject } = events.get(monitor.id)!
    return { projectId, channelId, eventId: id, eventName: name, subject, reminder: sentCount + 1, isChange: true }
  })
  await enqueueDeliveries(tx, await groupIntoDigests(tx, deliveries, now), now)
}
