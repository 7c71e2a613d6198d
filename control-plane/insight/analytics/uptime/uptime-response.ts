import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import type { TimeRange } from './time-range.ts'
import type { Uptime, UptimeInterval } from './uptime.ts'

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
    ),
  },
  { title: 'Uptime' },
)

export function toUptimeResponse(monitorId: string, span: TimeRange, uptime: Uptime, intervals: UptimeInterval[]) {
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
  }
}
