import { newId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import { insertEvents } from '../../events/store.ts'
import { groupIntoDigests } from '../digests/actions.ts'
import type { StoredRule } from '../rules/rule-store.ts'
import {
  buildReminderEvent,
  computeFirstReminderAt,
  computeNextReminderAt,
  type DueReminder,
  isStillDue,
} from './reminder.ts'
import { claimDueReminders, deleteReminders, insertRemindersForOpenIncidents, updateReminders } from './store.ts'

/** New rules remind of the outages that their monitors are in. The caller holds the monitors. */
export async function startReminders(tx: Tx, rules: StoredRule[], now: Date): Promise<void> {
  const reminding = rules.flatMap(({ id, monitorId, onDown, remindEveryMinutes }) =>
    onDown && remindEveryMinutes !== null
      ? [{ id, monitorId, dueAt: computeFirstReminderAt(remindEveryMinutes, now) }]
      : [],
  )
  await insertRemindersForOpenIncidents(tx, reminding)
}

/** With a rule changes what it still has to say of a present outage. The caller holds the rule and its monitor. */
export async function rescheduleReminder(tx: Tx, before: StoredRule, after: StoredRule, now: Date): Promise<void> {
  const isSamePair = before.monitorId === after.monitorId && before.alertChannelId === after.alertChannelId
  const everyMinutes = after.onDown ? after.remindEveryMinutes : null
  if (everyMinutes === null || !isSamePair) await deleteReminders(tx, [after.id])
  const isSame = isSamePair && before.remindEveryMinutes === everyMinutes && before.onDown
  if (everyMinutes === null || isSame) return
  await startReminders(tx, [after], now)
}

/**
 * Tells the outages again that are due, to the channels of their rules; what is over is forgotten, what is silenced is
 * put off. A monitor that is being judged is left for later, and none recovers before its reminder is queued, so that no
 * reminder comes after the recovery. Answers how many it looked at, at most `limit`.
 */
export async function sendDueReminders(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const due = await claimDueReminders(tx, limit, now)
    const standing = due.filter(isStillDue)
    const isOver = (reminder: DueReminder) => !isStillDue(reminder)
    await deleteReminders(
      tx,
      due.filter(isOver).map(reminder => reminder.ruleId),
    )
    await enqueueReminders(
      tx,
      standing.filter(reminder => !reminder.isSilenced),
      now,
    )
    const moved = standing.map(({ ruleId, dueAt, everyMinutes, isSilenced }) => ({
      ruleId,
      dueAt: computeNextReminderAt(dueAt, everyMinutes, now),
      wasTold: !isSilenced,
    }))
    await updateReminders(tx, moved)
    return due.length
  })
}

/** Each monitor's event once, to each of the rules that wait for it. */
async function enqueueReminders(tx: Tx, reminders: DueReminder[], now: Date): Promise<void> {
  const events = new Map(reminders.map(reminder => [reminder.monitor.id, buildReminderEvent(newId(), reminder, now)]))
  await insertEvents(tx, [...events.values()])
  const deliveries = reminders.map(({ projectId, channelId, monitor, told }) => {
    const { id, name, subject } = events.get(monitor.id)!
    return { projectId, channelId, eventId: id, eventName: name, subject, reminder: told + 1, isChange: true }
  })
  await enqueueDeliveries(tx, await groupIntoDigests(tx, deliveries, now), now)
}
