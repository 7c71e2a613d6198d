import { groupBy } from '../../../../../shared/group-by.ts'
import type { IncidentView, PageView } from '../../../core/types.ts'
import { getUtcDay, listPastDays } from '../../dates.ts'

const PAST_DAYS = 14

/** A day with incidents, or a run of days without any. */
type PastDays = { date: string; incidents: IncidentView[] } | { from: string; to: string }

/**
 * The last fourteen UTC days, newest first, with incidents on the day of their start; earlier ones come last.
 * Consecutive days without incidents are combined.
 */
export function groupPastDays({ at, pastIncidents }: Pick<PageView, 'at' | 'pastIncidents'>): PastDays[] {
  const byDay = groupBy(pastIncidents, incident => getUtcDay(incident.startedAt))
  const window = listPastDays(at, PAST_DAYS)
  const older = [...byDay.keys()].filter(date => !window.includes(date) && date < (window.at(-1) ?? '')).sort()
  const blocks: PastDays[] = []
  for (const date of [...window, ...older.reverse()]) {
    const incidents = byDay.get(date)
    const last = blocks.at(-1)
    if (incidents) blocks.push({ date, incidents })
    else if (last && 'from' in last) last.from = date
    else blocks.push({ from: date, to: date })
  }
  return blocks
}
