import { findNextPeriod, findPeriodAt } from './schedule.ts'
import type { MaintenanceWindow } from './types.ts'

/** A window as the API returns it. Its status is `scheduled` also between two periods. */
export function toWindowResponse(window: MaintenanceWindow, now: Date) {
  const { id, title, description, cron, monitorIds: monitor_ids } = window
  const next = findNextPeriod(window, now)
  const isActive = findPeriodAt(window, now) !== null
  return {
    id,
    title,
    description,
    monitor_ids,
    cron,
    duration_minutes: window.durationMinutes,
    time_zone: window.timeZone,
    starts_at: window.startsAt,
    ends_at: window.endsAt,
    notify_subscribers: window.notifySubscribers,
    announce_minutes: window.announceMinutes,
    status: isActive ? ('active' as const) : next === null ? ('ended' as const) : ('scheduled' as const),
    next_starts_at: next?.startsAt ?? null,
    created_at: window.createdAt,
    updated_at: window.updatedAt,
  }
}
