import { Type } from 'typebox'
import { nullable } from '../../../foundation/web/validation/schemas.ts'
import { computeUptimePercentage, type UptimeStatus } from '../uptime/uptime.ts'

const DAY_MS = 24 * 3_600_000

export type MonitorCounts = Record<'total' | 'up' | 'down' | 'degraded' | 'paused' | 'pending', number>
export type IncidentStatistics = {
  open: number
  acknowledged: number
  resolved_24h: number
  /** null when there was none */
  mttr_seconds_30d: number | null
  mtta_seconds_30d: number | null
}

const WINDOWS = { '90d': 90, '30d': 30, '7d': 7, '24h': 1 } as const
type WindowName = keyof typeof WINDOWS
/** A time range that ends now. */
export type UptimeWindow = { name: WindowName; since: Date }
export type WindowStatusTime = { window: WindowName; status: Exclude<UptimeStatus, 'unknown'>; seconds: number }

/** The windows of uptime, the longest first. */
export function buildUptimeWindows(now: Date): UptimeWindow[] {
  return Object.entries(WINDOWS).map(([name, days]) => ({
    name: name as WindowName,
    since: new Date(now.getTime() - days * DAY_MS),
  }))
}

/** The uptime of all monitors together in each window, by their time in each status; null when no time is known. */
export function computeUptimeByWindow(times: WindowStatusTime[]): Record<WindowName, number | null> {
  const percentage = (window: WindowName) => {
    const seconds = { up: 0, degraded: 0, down: 0, unknown: 0 }
    for (const time of times) if (time.window === window) seconds[time.status] += time.seconds
    return computeUptimePercentage(seconds)
  }
  return { '24h': percentage('24h'), '7d': percentage('7d'), '30d': percentage('30d'), '90d': percentage('90d') }
}

const count = Type.Integer()
const percent = nullable(Type.Number())

/** The response of `GET /analytics/summary`. */
export const Summary = Type.Object(
  {
    monitors: Type.Object({ total: count, up: count, down: count, degraded: count, paused: count, pending: count }),
    incidents: Type.Object({
      open: count,
      acknowledged: Type.Integer({ description: 'Open incidents that were acknowledged.' }),
      resolved_24h: count,
      mttr_seconds_30d: nullable(
        Type.Integer({
          description: 'Mean time from start to resolution of incidents that were resolved in the last 30 days.',
        }),
      ),
      mtta_seconds_30d: nullable(
        Type.Integer({ description: 'Mean time from start to acknowledgement in the last 30 days.' }),
      ),
    }),
    uptime: Type.Object(
      { '24h': percent, '7d': percent, '30d': percent, '90d': percent },
      {
        description:
          'Uptime of all monitors together, in percent. Degraded counts as up. Maintenance and unknown time are not counted.',
      },
    ),
    checks_24h: nullable(Type.Integer({ description: 'Null while the history is unavailable.' })),
  },
  { title: 'Summary' },
)
