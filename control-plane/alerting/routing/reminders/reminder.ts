import type { EventData, EventRow, MonitorEventData } from '../../events/catalog.ts'

const MINUTE_MS = 60_000

/** A reminder that is sent later than this moves the following ones. */
const MAX_DELAY_MS = MINUTE_MS

type Rule = { id: string; monitorId: string; onDown: boolean; remindEveryMinutes: number | null }

/** The next reminder of an outage for a rule. `eventId`: the `monitor.down` of the outage. */
export type NewReminder = { ruleId: string; monitorId: string; incidentId: string; eventId: string; dueAt: Date }

/** The reminders that an event starts: one for each rule that sends the outage and has an interval. */
export function buildReminders(event: EventRow, rules: Rule[], now: Date): NewReminder[] {
  const incidentId = getIncidentId(event)
  if (incidentId === null) return []
  return rules.flatMap(({ id, monitorId, onDown, remindEveryMinutes }) => {
    if (!onDown || remindEveryMinutes === null) return []
    return {
      ruleId: id,
      monitorId,
      incidentId,
      eventId: event.id,
      dueAt: computeFirstReminderAt(remindEveryMinutes, now),
    }
  })
}

function getIncidentId({ name, data }: EventRow): string | null {
  return name === 'monitor.down' ? ((data as EventData<'monitor.down'>).incident?.id ?? null) : null
}

export const computeFirstReminderAt = (everyMinutes: number, now: Date): Date =>
  new Date(now.getTime() + everyMinutes * MINUTE_MS)

/** The time after a reminder that was due at `dueAt`: one interval later, counted from now when the reminder was late. */
export function computeNextReminderAt(dueAt: Date, everyMinutes: number, now: Date): Date {
  const isLate = now.getTime() - dueAt.getTime() > MAX_DELAY_MS
  return computeFirstReminderAt(everyMinutes, isLate ? now : dueAt)
}

/** A due reminder with the current state of its monitor and incident. */
export type DueReminder = {
  ruleId: string
  projectId: string
  channelId: string
  onDown: boolean
  everyMinutes: number | null
  /** how many reminders were sent */
  sentCount: number
  dueAt: Date
  monitor: { id: string; name: string; url: string | null; status: string | null; isPaused: boolean }
  isDeleted: boolean
  isSilenced: boolean
  /** the stored status may be out of date */
  isOutdated: boolean
  /** its data source is paused, so its status may be old */
  isSourcePaused: boolean
  incident: NonNullable<MonitorEventData['incident']>
  isResolved: boolean
  isAcknowledged: boolean
  /** of the `monitor.down` of the outage */
  data: MonitorEventData
}

/**
 * False when the outage has ended or is acknowledged, or the rule no longer sends reminders. `degraded` and a lost status do
 * not end an outage: the monitor may be `down` again without another event.
 */
export function isStillDue(reminder: DueReminder): reminder is DueReminder & { everyMinutes: number } {
  const { monitor, everyMinutes, onDown, isDeleted, isResolved, isAcknowledged } = reminder
  const isInOutage = monitor.status !== 'up' && !monitor.isPaused && !isDeleted
  return isInOutage && !isResolved && !isAcknowledged && onDown && everyMinutes !== null
}

/** True when a reminder that is still due is not sent this time: the monitor is suppressed, not `down` now, or not known to be. */
export const isDeferred = ({ isSilenced, isSourcePaused, monitor }: DueReminder): boolean =>
  isSilenced || isSourcePaused || monitor.status !== 'down'

/** When a reminder is tried again whose monitor may have recovered unseen. */
const OUTDATED_DELAY_MS = 30_000

/**
 * What happens to a reminder that is still due. While the status may be out of date it waits: it is sent when the status is
 * current again and the monitor is still `down`.
 */
export function planReminder(
  reminder: DueReminder & { everyMinutes: number },
  now: Date,
): { isSent: boolean; dueAt: Date } {
  const { dueAt, everyMinutes, isOutdated } = reminder
  if (isDeferred(reminder)) return { isSent: false, dueAt: computeNextReminderAt(dueAt, everyMinutes, now) }
  if (isOutdated) return { isSent: false, dueAt: new Date(now.getTime() + OUTDATED_DELAY_MS) }
  return { isSent: true, dueAt: computeNextReminderAt(dueAt, everyMinutes, now) }
}

/** The event of a reminder: the data of the `monitor.down`, with the current monitor and incident. */
export function buildReminderEvent(
  id: string,
  { projectId, monitor, incident, data }: DueReminder,
  now: Date,
): EventRow {
  const { name, url, status } = monitor
  return {
    id,
    projectId,
    name: 'monitor.down',
    subject: `monitor:${monitor.id}`,
    data: { ...data, monitor: { ...data.monitor, name, url, status }, incident },
    occurredAt: now,
  }
}
