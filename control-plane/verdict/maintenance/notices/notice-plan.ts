import type { MaintenanceStage } from '../../../alerting/events/maintenance-event.ts'
import { findNextPeriod, findPeriodAt, type MaintenancePeriod } from '../schedule.ts'
import type { MaintenanceWindow } from '../types.ts'

/**
 * A period with the stages for which notices were sent or left out. `firstStartsAt`: the beginning with which it was first
 * sent. `unsentChange`: the time that subscribers know, and since when it is another one.
 */
export type NoticedPeriod = MaintenancePeriod & {
  stages: StoredStage[]
  firstStartsAt: Date
  unsentChange: (MaintenancePeriod & { changedAt: Date }) | null
}
export type StoredStage = Exclude<MaintenanceStage, 'cancelled'>

type NoticeSettings = Pick<
  MaintenanceWindow,
  'cron' | 'durationMinutes' | 'timeZone' | 'startsAt' | 'endsAt' | 'notifySubscribers' | 'announceMinutes'
>

/** The notice to send now, or when the next one is due; null: there is none. */
type NextNotice =
  | { stage: 'changed'; period: NoticedPeriod; previous: MaintenancePeriod }
  | { stage: Exclude<StoredStage, 'changed'>; period: MaintenancePeriod & { firstStartsAt?: Date } }
  | { dueAt: Date | null }

const MINUTE_MS = 60_000
/** Changes within this time become one notice. */
const CHANGE_DELAY_MS = MINUTE_MS

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

/** A beginning or an end contains the time of the period, so a change that waits is not sent in addition. */
function planOpenPeriod(period: NoticedPeriod, now: Date): NextNotice {
  const { startsAt, endsAt, stages, unsentChange } = period
  if (endsAt <= now) return { stage: 'ended', period }
  if (startsAt <= now && !stages.includes('begun')) return { stage: 'begun', period }
  const stageDueAt = startsAt > now ? startsAt : endsAt
  if (unsentChange === null) return { dueAt: stageDueAt }
  const changeDueAt = new Date(unsentChange.changedAt.getTime() + CHANGE_DELAY_MS)
  if (changeDueAt <= now) return { stage: 'changed', period, previous: unsentChange }
  return { dueAt: changeDueAt < stageDueAt ? changeDueAt : stageDueAt }
}

const isFinished = ({ stages }: NoticedPeriod) => stages.includes('ended')

/**
 * What a change of the window means for the open period: it is still planned, perhaps at another time; it has ended; it is
 * cancelled; or nothing more is sent (`silence`). Null: no period is open. A deleted window has a schedule without periods.
 */
type PeriodRevision = { kind: 'keep'; period: MaintenancePeriod } | { kind: 'end' | 'cancel' | 'silence' } | null

export function reviseOpenPeriod(window: NoticeSettings, last: NoticedPeriod | null, now: Date): PeriodRevision {
  if (last === null || isFinished(last)) return null
  if (!window.notifySubscribers) return { kind: 'silence' }
  if (last.stages.includes('begun')) {
    const running = findPeriodAt(window, now)
    return running === null
      ? { kind: 'end' }
      : { kind: 'keep', period: { startsAt: last.startsAt, endsAt: running.endsAt } }
  }
  const planned = findNextPeriod(window, new Date(last.startsAt.getTime() - 1))
  if (planned !== null && planned.startsAt.getTime() === last.startsAt.getTime())
    return { kind: 'keep', period: planned }
  const moved = findMovedPeriod(window, now)
  return moved === null ? { kind: 'cancel' } : { kind: 'keep', period: moved }
}

/** The only period of a window. Of a recurring window it is not certain which period replaces the one that was announced. */
function findMovedPeriod({ cron, startsAt, endsAt }: NoticeSettings, now: Date): MaintenancePeriod | null {
  if (cron !== null || startsAt === null || endsAt === null || endsAt <= now) return null
  // nothing becomes maintenance afterwards
  return { startsAt: startsAt < now ? now : startsAt, endsAt }
}
