import { Type } from 'typebox'
import { enumOf, Id, nullable, Timestamp } from '../web/schemas.ts'
import type { Span } from './span.ts'
import type { Interval, Uptime } from './uptime.ts'

const STATES = ['up', 'degraded', 'down', 'unknown'] as const

export const UptimeRecord = Type.Object({
  monitor_id: Id,
  from: Timestamp,
  to: Timestamp,
  seconds: Type.Object({ up: Type.Number(), degraded: Type.Number(), down: Type.Number(), unknown: Type.Number() }),
  uptime_percentage: nullable(
    Type.Number({ description: 'degraded counts as up; unknown time (paused, before the first verdict) not at all' }),
  ),
  intervals: Type.Array(Type.Object({ status: enumOf(STATES), from: Timestamp, to: Timestamp })),
})

export function presentUptime(monitorId: string, span: Span, uptime: Uptime, intervals: Interval[]) {
  const { seconds, uptimePercentage: uptime_percentage } = uptime
  return { monitor_id: monitorId, ...span, seconds, uptime_percentage, intervals }
}
