import { groupBy } from '../../../../../shared/group-by.ts'
import type { IncidentView, PageView } from '../../../core/types.ts'
import { getUtcDay, listPastDays } from '../../dates.ts'

const PAST_DAYS = 14

/** A day with incidents, or a run of days without any. */
type PastDays = { date: string; incidents: IncidentView[] } | { from: string; to: string }

type ShownIncidents = Pick<PageView, 'at' | 'openIncidents' | 'pastIncidents'>

/**
 * The last fourteen UTC days, newest first, with incidents on the day of their start; earlier ones come last.
 * Consecutive days without incidents are combined. A later day of a longer incident is left out: it was not quiet.
 */
export function groupPastDays({ at, openIncidents, pastIncidents }: ShownIncidents): PastDays[] {
  const byDay = groupBy(pastIncidents, incident => getUtcDay(incident.startedAt))
  const window = listPastDays(at, PAST_DAYS)
  const older = [...byDay.keys()].filter(date => !window.includes(date) && date < (window.at(-1) ?? '')).sort()
  const troubled = [...openIncidents, ...pastIncidents].map(({ startedAt, resolvedAt }) => ({
    from: getUtcDay(startedAt),
    to: getUtcDay(resolvedAt ?? at),
  }))
  const blocks: PastDays[] = []
  let run: { from: string; to: string } | null = null
  for (const date of [...window, ...older.reverse()]) {
    const incidents = byDay.get(date)
    const isQuiet = !incidents && !troubled.some(({ from, to }) => from <= date && date <= to)
    if (incidents) blocks.push({ date, incidents })
    if (isQuiet && run) {
      run.from = date
      continue
    }
    run = isQuiet ? { from: date, to: date } : null
    if (run) blocks.push(run)
  }
  return blocks
}
