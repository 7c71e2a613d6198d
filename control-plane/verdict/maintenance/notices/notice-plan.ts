import type { MaintenanceStage } from '../../../alerting/events/maintenance-event.ts'
import { findNextPeriod, findPeriodAt, type MaintenancePeriod } from '../schedule.ts'
import type { MaintenanceWindow } from '../types.ts'

/** A period with the stages for which notices were sent or left out. */
export type NoticedPeriod = MaintenancePeriod & { stages: StoredStage[] }
export type StoredStage = Exclude<MaintenanceStage, 'cancelled'>

type NoticeSettings = Pick<
  MaintenanceWindow,
  'cron' | 'durationMinutes' | 'timeZone' | 'startsAt' | 'endsAt' | 'notifySubscribers' | 'announceMinutes'
>

/** The notice to send now, or when the next one is due; null: there is none. */
type NextNotice = { stage: StoredStage; period: MaintenancePeriod } | { dueAt: Date | null }

const MINUTE_MS = 60_000

/**
 * The next notice of a window at `now`. `last`: its newest period with notices. One period is finished before the next one
 * is announced, so frequent periods are not announced all at once. A late process announces nothing that has begun, and
 * reports no beginning of what has ended.
 */
export function planNextNotice(window: NoticeSettings, last: NoticedPeriod | null, now: Date): NextNotice {
  if (!window.notifySubscribers) return { dueAt: null }
  if (last !== null && !isFinished(last)) return planOpenPeriod(last, now)
  const running = findPeriodAt(window, now)
  // a window that was moved away and back begins again at this moment
  if (running !== null)
    return {
      stage: 'begun',
      period: last && running.startsAt <= last.startsAt ? { ...running, startsAt: now } : running,
    }
  const next = findNextPeriod(window, now)
  if (next === null) return { dueAt: null }
  if (window.announceMinutes === 0) return { dueAt: next.startsAt }
  const announceAt = new Date(next.startsAt.getTime() - window.announceMinutes * MINUTE_MS)
  return announceAt > now ? { dueAt: announceAt } : { stage: 'announced', period: next }
}

function planOpenPeriod(period: NoticedPeriod, now: Date): NextNotice {
  if (period.startsAt > now) return { dueAt: period.startsAt }
  if (period.endsAt <= now) return { stage: 'ended', period }
  return period.stages.includes('begun') ? { dueAt: period.endsAt } : { stage: 'begun', period }
}

const isFinished = ({ stages }: NoticedPeriod) => stages.includes('ended')

/**
 * What a change of the window means for the open period: it is still planned, until `endsAt`; it has ended; it is cancelled; or
 * nothing more is sent (`silence`). Null: no period is open. A deleted window has a schedule without periods.
 */
type PeriodRevision = { kind: 'keep'; endsAt: Date } | { kind: 'end' | 'cancel' | 'silence' } | null

export function reviseOpenPeriod(window: NoticeSettings, last: NoticedPeriod | null, now: Date): PeriodRevision {
  if (last === null || isFinished(last)) return null
  if (!window.notifySubscribers) return { kind: 'silence' }
  if (last.stages.includes('begun')) {
    const running = findPeriodAt(window, now)
    return running === null ? { kind: 'end' } : { kind: 'keep', endsAt: running.endsAt }
  }
  const planned = findNextPeriod(window, new Date(last.startsAt.getTime() - 1))
  const isPlanned = planned !== null && planned.startsAt.getTime() === last.startsAt.getTime()
  return isPlanned ? { kind: 'keep', endsAt: planned.endsAt } : { kind: 'cancel' }
}
