/** What the row of a monitor shows of its history (docs/design/history.md#strips). Pure. */
import { type Static, Type } from 'typebox'
import { groupBy } from '../../../../shared/group-by.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { buildTimeGrid, forEachCell, type MonitorStatusTime, type TimeGrid } from '../uptime/status-time.ts'
import { computeUptimePercentage } from '../uptime/uptime.ts'

export const CELL_MS = 1_800_000
export const DAY_MS = 86_400_000
const CELLS = 48
const DAYS = 90

const Statuses = Type.Array(nullable(stringEnum(['up', 'degraded', 'down', 'maintenance'])))

/** Columns instead of a list of objects: a response is five times smaller. */
const StripCells = Type.Object(
  {
    status: Statuses,
    failing_share: Type.Array(nullable(Type.Number()), {
      description: 'Time in status down divided by known time, 0 to 1.',
    }),
  },
  {
    description:
      '48 half hours in each list, oldest first; the last contains now. `status` is the worst of the half hour outside maintenance windows. Null: no status is known.',
  },
)
const StripDays = Type.Object(
  { status: Statuses, down_seconds: Type.Array(nullable(Type.Number())) },
  {
    description: '90 UTC days in each list, oldest first; the last is today until now. Null: no status is known.',
  },
)

export const StripRecord = Type.Object(
  {
    monitor_id: Id,
    cells: StripCells,
    p95_ms: nullable(
      Type.Number({ description: 'The 95th percentile of the latency of successful checks in the last 24 hours.' }),
    ),
    uptime_24h: nullable(
      Type.Number({
        description:
          'In percent, over exactly 24 hours. Degraded counts as up. Maintenance and unknown time are not counted.',
      }),
    ),
    days: StripDays,
  },
  { title: 'MonitorStrip' },
)

export const StripMeta = Type.Object({
  cells_from: Timestamp,
  days_from: Timestamp,
  to: Timestamp,
  latency_available: Type.Boolean({ description: 'False while the history is unavailable: `p95_ms` is null.' }),
})

/** The grids of the cells and of the days, and the beginning of the 24 hours of the uptime. */
export const buildStripGrids = (now: Date) => ({
  cells: buildTimeGrid(now, CELL_MS, CELLS),
  days: buildTimeGrid(now, DAY_MS, DAYS),
  dayAgo: new Date(now.getTime() - DAY_MS),
})

type StripData = {
  /** since 24 hours ago, combined by half hours */
  recent: MonitorStatusTime[]
  /** since the first day, combined by days */
  daily: MonitorStatusTime[]
  /** in ms, by monitor; null: the history is unavailable */
  p95: ReadonlyMap<string, number> | null
}

/** The strips of monitors, in their order. */
export function* buildStrips(
  monitorIds: string[],
  { recent, daily, p95 }: StripData,
  grids: ReturnType<typeof buildStripGrids>,
): Generator<Static<typeof StripRecord>> {
  const [recentById, dailyById] = [groupBy(recent, getMonitorId), groupBy(daily, getMonitorId)]
  for (const id of monitorIds) {
    const times = recentById.get(id) ?? []
    yield {
      monitor_id: id,
      cells: toCells(sumCells(times, grids.cells)),
      p95_ms: p95?.get(id) ?? null,
      uptime_24h: computeUptimePercentage(sumSeconds(times)),
      days: toDays(sumCells(dailyById.get(id) ?? [], grids.days)),
    }
  }
}

const getMonitorId = ({ monitorId }: MonitorStatusTime) => monitorId

type Seconds = { up: number; degraded: number; down: number; maintenance: number; unknown: number }
const newSeconds = (): Seconds => ({ up: 0, degraded: 0, down: 0, maintenance: 0, unknown: 0 })

const getSecondsKey = ({ status, isMaintenance }: MonitorStatusTime): keyof Seconds =>
  isMaintenance ? 'maintenance' : (status ?? 'unknown')

function sumSeconds(times: MonitorStatusTime[]): Seconds {
  const total = newSeconds()
  for (const time of times) total[getSecondsKey(time)] += time.seconds
  return total
}

function sumCells(times: MonitorStatusTime[], grid: TimeGrid): Seconds[] {
  const cells = Array.from({ length: grid.count }, newSeconds)
  for (const time of times) {
    const key = getSecondsKey(time)
    forEachCell(time, grid, (i, seconds) => (cells[i]![key] += seconds))
  }
  return cells
}

/** Unknown time has no status, so a paused monitor is neither up nor down. */
const pickStatus = (seconds: Seconds) =>
  (['down', 'degraded', 'up', 'maintenance'] as const).find(one => seconds[one] > 0) ?? null

const toCells = (cells: Seconds[]): Static<typeof StripCells> => ({
  status: cells.map(pickStatus),
  failing_share: cells.map(computeFailingShare),
})

/** Zero when all known time is maintenance. */
function computeFailingShare(seconds: Seconds): number | null {
  if (pickStatus(seconds) === null) return null
  const known = seconds.up + seconds.degraded + seconds.down
  return known === 0 ? 0 : Math.round((seconds.down / known) * 10_000) / 10_000
}

const toDays = (days: Seconds[]): Static<typeof StripDays> => ({
  status: days.map(pickStatus),
  down_seconds: days.map(day => (pickStatus(day) === null ? null : Math.round(day.down * 1_000) / 1_000)),
})
