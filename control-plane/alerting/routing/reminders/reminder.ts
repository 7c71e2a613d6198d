import type { EventData, EventRow, MonitorEventData } from '../../events/catalog.ts'

const MINUTE_MS = 60_000

/** So late a reminder may be and the next one keep to the old beat. */
const MAX_DELAY_MS = MINUTE_MS

type Rule = { id: string; monitorId: string; onDown: boolean; remindEveryMinutes: number | null }

/** When a rule tells an outage next. `eventId`: the `monitor.down` that it was told by. */
export type NewReminder = { ruleId: string; monitorId: string; incidentId: string; eventId: string; dueAt: Date }

/** The reminders that begin with an event: one for each rule that heard of an outage and wants them. */
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

/** After one that was due at `dueAt`: on the beat, but a whole interval from now when it came late, and never a backlog. */
export function computeNextReminderAt(dueAt: Date, everyMinutes: number, now: Date): Date {
  const isLate = now.getTime() - dueAt.getTime() > MAX_DELAY_MS
  return computeFirstReminderAt(everyMinutes, isLate ? now : dueAt)
}

/** A reminder that is due, with what it is about as it is now. */
export type DueReminder = {
  ruleId: string
  projectId: string
  channelId: string
  onDown: boolean
  everyMinutes: number | null
  told: number
  dueAt: Date
  monitor: { id: string; name: string; url: string | null; status: string | null; isPaused: boolean }
  isDeleted: boolean
  isSilenced: boolean
  incident: NonNullable<MonitorEventData['incident']>
  isResolved: boolean
  isAcknowledged: boolean
  /** of the event that told the outage */
  data: MonitorEventData
}

/** False when there is nothing more to remind of: the outage is over or somebody sees to it, or the rule has changed. */
export function isStillDue(reminder: DueReminder): reminder is DueReminder & { everyMinutes: number } {
  const { monitor, everyMinutes, onDown, isDeleted, isResolved, isAcknowledged } = reminder
  const isDown = monitor.status === 'down' && !monitor.isPaused && !isDeleted
  return isDown && !isResolved && !isAcknowledged && onDown && everyMinutes !== null
}

/** The outage told again: what was seen when it began, with the monitor and the incident as they are now. */
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
