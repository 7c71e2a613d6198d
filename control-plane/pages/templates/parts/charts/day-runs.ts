import { pluralize } from '../../../../alerting/channels/notices/wording.ts'
import type { DayView, DisplayStatus } from '../../../core/types.ts'
import { DAY_LABELS, STATUS_LETTERS, type StatusLetter } from '../../labels.ts'

/** Days `from` to `to` (places in the bar, both included) that are told in one line. */
export type DayRun = { from: number; to: number; status: DisplayStatus }

/** Days of the same status in a row. */
export function groupDayRuns(days: readonly DayView[]): DayRun[] {
  const runs: DayRun[] = []
  for (const [at, { status }] of days.entries()) {
    const last = runs.at(-1)
    if (last?.status === status) last.to = at
    else runs.push({ from: at, to: at, status })
  }
  return runs
}

/** What there is to tell, newest first: days that were not plainly operational, days without data in one line a run. */
export function listNotableRuns(days: readonly DayView[]): DayRun[] {
  return groupDayRuns(days)
    .filter(({ status, from, to }) => status !== 'operational' || days.slice(from, to + 1).some(isNotable))
    .flatMap(run => (run.status === 'unknown' ? [run] : splitRun(run)))
    .filter(({ from, status }) => status !== 'operational' || isNotable(days[from]!))
    .reverse()
}

const splitRun = ({ from, to, status }: DayRun): DayRun[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ from: from + i, to: from + i, status }))

const isNotable = ({ incidents, downSeconds, degradedSeconds }: DayView) =>
  incidents.length > 0 || downSeconds > 0 || degradedSeconds > 0

const ORDER: readonly DisplayStatus[] = ['operational', 'degraded', 'outage', 'maintenance', 'unknown']

/** "The last 90 days: 87 operational, 2 degraded, 1 outage" for those who do not see the bar. */
export function buildBarLabel(days: readonly DayView[]): string {
  const counts = ORDER.map(status => [days.filter(day => day.status === status).length, DAY_LABELS[status]] as const)
  const told = counts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word.toLowerCase()}`)
  return `The last ${days.length} ${pluralize(days.length, 'day')}: ${told.join(', ')}`
}

/** Top and height of a day in a bar 40 high. What was worse stands taller, so that colour is not all that tells it. */
const HEIGHTS: Record<StatusLetter, [number, number]> = { o: [8, 24], m: [8, 24], d: [5, 30], x: [2, 36], u: [14, 12] }

/** One path a status through the days that had it: a stroke a day, `M.5 8v24m1-24v24`, a tenth of a rectangle's bytes. */
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
