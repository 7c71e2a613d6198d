import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import type { TimeRange } from './time-range.ts'
import type { Uptime, UptimeInterval } from './uptime.ts'

/** A heartbeat that changes with each ping has more than a million in a day. */
export const MAX_INTERVALS = 10_000

const STATES = ['up', 'degraded', 'down', 'unknown'] as const

export const UptimeRecord = Type.Object(
  {
    monitor_id: Id,
    from: Timestamp,
    to: Timestamp,
    seconds: Type.Object({ up: Type.Number(), degraded: Type.Number(), down: Type.Number(), unknown: Type.Number() }),
    maintenance_seconds: Type.Number({
      description: 'Seconds spent in maintenance windows. Not counted in `seconds`.',
    }),
    uptime_percentage: nullable(
      Type.Number({
        description:
          'Degraded counts as up. Maintenance and unknown time (paused, unchecked, before the first verdict) are not counted.',
      }),
    ),
    intervals: Type.Array(
      Type.Object({ status: stringEnum(STATES), from: Timestamp, to: Timestamp, is_maintenance: Type.Boolean() }),
      { description: `At most ${MAX_INTERVALS}, oldest first.` },
    ),
    truncated: Type.Boolean({
      description:
        'True when there are more intervals. To get them, repeat the request with `from` set to the end of the last one. The seconds and the percentage always cover the whole range.',
    }),
  },
  { title: 'Uptime' },
)

/** Uptime with its first intervals. `isTruncated`: there are more. */
export type UptimeHistory = { span: TimeRange; uptime: Uptime; intervals: UptimeInterval[]; isTruncated: boolean }

export function toUptimeResponse(monitorId: string, { span, uptime, intervals, isTruncated }: UptimeHistory) {
  return {
    monitor_id: monitorId,
    ...span,
    seconds: uptime.seconds,
    maintenance_seconds: uptime.maintenanceSeconds,
    uptime_percentage: uptime.uptimePercentage,
    intervals: intervals.map(({ status, from, to, isMaintenance }) => ({
      status,
      from,
      to,
      is_maintenance: isMaintenance,
    })),
    truncated: isTruncated,
  }
}
