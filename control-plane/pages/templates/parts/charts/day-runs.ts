import { pluralize } from '../../../../alerting/channels/notices/wording.ts'
import type { DayView, DisplayStatus } from '../../../core/types.ts'
import { DAY_LABELS, STATUS_LETTERS, type StatusLetter } from '../../labels.ts'

/** Days `from` to `to` (indexes in the bar, both included) that are listed in one line. */
export type DayRun = { from: number; to: number; status: DisplayStatus }

/** Consecutive days of the same status. */
export function groupDayRuns(days: readonly DayView[]): DayRun[] {
  const runs: DayRun[] = []
  for (const [at, { status }] of days.entries()) {
    const last = runs.at(-1)
    if (last?.status === status) last.to = at
    else runs.push({ from: at, to: at, status })
  }
  return runs
}

/** The days to list, newest first: those that were not operational, and runs of days without data in one line each. */
export function listNotableRuns(days: readonly DayView[]): DayRun[] {
  return groupDayRuns(days)
    .filter(({ status, from, to }) => status !== 'operational' || days.slice(from, to + 1).some(isNotable))
    .flatMap(run => (run.status === 'unknown' ? [run] : splitRun(run)))
    .filter(({ from, status }) => status !== 'operational' || isNotable(days[from]!))
    .reverse()
}

const splitRun = ({ from, to, status }: DayRun): DayRun[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ from: from + i, to: from + i, status }))

const isNotable = ({ incidents, moreIncidents, downSeconds, degradedSeconds }: DayView) =>
  incidents.length > 0 || moreIncidents !== undefined || downSeconds > 0 || degradedSeconds > 0

const ORDER: readonly DisplayStatus[] = ['operational', 'degraded', 'outage', 'maintenance', 'unknown']

/** "The last 90 days: 87 operational, 2 degraded, 1 outage", for screen readers. */
export function buildBarLabel(days: readonly DayView[]): string {
  const counts = ORDER.map(status => [days.filter(day => day.status === status).length, DAY_LABELS[status]] as const)
  const parts = counts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word.toLowerCase()}`)
  return `The last ${days.length} ${pluralize(days.length, 'day')}: ${parts.join(', ')}`
}

/** Top and height of a day in a bar of height 40. Worse days are taller, so that colour is not the only signal. */
const HEIGHTS: Record<StatusLetter, [number, number]> = { o: [8, 24], m: [8, 24], d: [5, 30], x: [2, 36], u: [14, 12] }

/** One path per status through its days: one stroke per day, `M.5 8v24m1-24v24`, a tenth of the bytes of rectangles. */
export function buildBarPaths(days: readonly DayView[]): { sign: StatusLetter; d: string }[] {
  const paths = new Map<StatusLetter, string>()
  for (const { status, from, to } of groupDayRuns(days)) {
    const sign = STATUS_LETTERS[status]
    const [top, height] = HEIGHTS[sign]
    const strokes = `M${from}.5 ${top}v${height}${`m1-${height}v${height}`.repeat(to - from)}`
    paths.set(sign, (paths.get(sign) ?? '') + strokes)
  }
  return [...paths].map(([sign, d]) => ({ sign, d }))
}
