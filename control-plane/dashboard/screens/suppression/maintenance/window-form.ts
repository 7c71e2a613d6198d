import type { MaintenancePeriod } from '../../../../verdict/maintenance/schedule.ts'
import { validateSchedule } from '../../../../verdict/maintenance/schedule-validation.ts'
import type { OperationArguments } from '../../../core/operations.ts'
import type { FieldProblem } from '../../../parts/forms/field-errors.ts'
import { EMPTY_RECURRENCE, parseCron, type Recurrence, toCron } from './recurrence.ts'
import { toSchedule, type WindowRecord } from './window-periods.ts'
import { parseZonedText, toZonedText } from './zoned-time.ts'

type WindowBody = OperationArguments<'createMaintenanceWindow'>['body']

/** A window as it is in the form. Times are texts of `datetime-local`. */
export type WindowForm = {
  /** of the times */
  zone: string
  title: string
  description: string
  monitorIds: readonly string[]
  isRecurring: boolean
  /** of a window that does not recur; kept while it does */
  startsAt: string
  endsAt: string
  /** of a window that recurs; kept while it does not */
  notBefore: string
  notAfter: string
  recurrence: Recurrence
  /** in seconds, as text */
  duration: string
  /** of the recurrence */
  timeZone: string
  /** null: not chosen yet, so it is proposed: yes for a window that does not recur */
  notifySubscribers: boolean | null
  /** in seconds, as text */
  announce: string
}

const HOUR_MS = 3_600_000
const DEFAULT_ANNOUNCE_S = 86_400

/** Two hours from the next full hour. */
export function proposeTimesFromNow(nowMs: number): MaintenancePeriod {
  const startMs = Math.ceil(nowMs / HOUR_MS) * HOUR_MS
  return { startsAt: new Date(startMs), endsAt: new Date(startMs + 2 * HOUR_MS) }
}

/** A new window. */
export function startForm(nowMs: number, timeZone: string, times = proposeTimesFromNow(nowMs)): WindowForm {
  return {
    ...{ zone: timeZone, title: '', description: '', monitorIds: [], isRecurring: false },
    startsAt: toZonedText(times.startsAt, timeZone),
    endsAt: toZonedText(times.endsAt, timeZone),
    ...{ notBefore: '', notAfter: '', recurrence: EMPTY_RECURRENCE, duration: '3600', timeZone },
    ...{ notifySubscribers: null, announce: String(DEFAULT_ANNOUNCE_S) },
  }
}

export function toWindowForm(window: WindowRecord, timeZone: string): WindowForm {
  const text = (at: string | null) => (at === null ? '' : toZonedText(new Date(at), timeZone))
  const [from, to] = [text(window.starts_at), text(window.ends_at)]
  return {
    zone: timeZone,
    title: window.title,
    description: window.description ?? '',
    monitorIds: window.monitor_ids,
    isRecurring: window.cron !== null,
    ...(window.cron === null
      ? { startsAt: from, endsAt: to, notBefore: '', notAfter: '' }
      : { startsAt: '', endsAt: '', notBefore: from, notAfter: to }),
    recurrence: window.cron === null ? EMPTY_RECURRENCE : parseCron(window.cron),
    duration: String((window.duration_minutes ?? 60) * 60),
    timeZone: window.time_zone ?? timeZone,
    notifySubscribers: window.notify_subscribers,
    announce: String(window.announce_minutes * 60),
  }
}

/** Whether subscribers are notified: as chosen or stored, or as proposed. */
export const notifies = ({ notifySubscribers, isRecurring }: WindowForm): boolean => notifySubscribers ?? !isRecurring

/** The form with its times in another time zone. Times that are not complete stay as they are. */
export function moveToZone(form: WindowForm, zone: string): WindowForm {
  const move = (text: string) => {
    const at = parseZonedText(text, form.zone)
    return at === null ? text : toZonedText(at, zone)
  }
  return {
    ...{ ...form, zone, startsAt: move(form.startsAt), endsAt: move(form.endsAt) },
    ...{ notBefore: move(form.notBefore), notAfter: move(form.notAfter) },
  }
}

/** The body of a create. Times that are not complete are null. */
export function toWindowBody(form: WindowForm): WindowBody {
  const toIso = (text: string) => parseZonedText(text, form.zone)?.toISOString() ?? null
  return {
    title: form.title.trim(),
    description: form.description.trim() === '' ? null : form.description.trim(),
    monitor_ids: [...form.monitorIds],
    cron: form.isRecurring ? toCron(form.recurrence) : null,
    duration_minutes: form.isRecurring ? Number(form.duration) / 60 : null,
    time_zone: form.isRecurring ? form.timeZone.trim() : null,
    starts_at: toIso(form.isRecurring ? form.notBefore : form.startsAt),
    ends_at: toIso(form.isRecurring ? form.notAfter : form.endsAt),
    notify_subscribers: notifies(form),
    announce_minutes: Number(form.announce) / 60,
  }
}

/** Only what changed, because times that are sent again restart a running period. Null: nothing. */
export function toWindowUpdate(stored: WindowRecord, form: WindowForm): Partial<WindowBody> | null {
  const before = toWindowBody(toWindowForm(stored, form.zone))
  const after = toWindowBody(form)
  const changed = Object.entries(after).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof WindowBody]),
  )
  return changed.length === 0 ? null : (Object.fromEntries(changed) as Partial<WindowBody>)
}

/** What the API would refuse, by the function of the server, so that it is shown before anything is sent. */
export function findWindowProblems(body: WindowBody, now: Date): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (body.title === '') problems.push({ path: 'title', message: 'title is required' })
  if (body.monitor_ids.length === 0) problems.push({ path: 'monitor_ids', message: 'choose at least one monitor' })
  return [...problems, ...findScheduleProblems(body, now)]
}

export const findScheduleProblems = (body: WindowBody, now: Date): FieldProblem[] =>
  validateSchedule(toSchedule(body as WindowRecord), now)

/** The fields that show their own errors. */
export const SHOWN_FIELDS = [
  ...['title', 'description', 'monitor_ids', 'cron', 'duration_minutes', 'time_zone', 'starts_at', 'ends_at'],
  ...['notify_subscribers', 'announce_minutes'],
]
