import { groupBy } from '../../../../shared/group-by.ts'
import { dayOf, daysBack } from '../../calendar.ts'
import type { IncidentView, PageView } from '../../types.ts'

const PAST_DAYS = 14

/** A day with incidents, or a run of days without any. */
export type PastBlock = { date: string; incidents: IncidentView[] } | { from: string; to: string }

/**
 * The last fourteen days (UTC), newest first, incidents on the day on which they began; what began earlier comes
 * last. Days without any are told together.
 */
export function pastBlocks({ at, pastIncidents }: Pick<PageView, 'at' | 'pastIncidents'>): PastBlock[] {
  const byDay = groupBy(pastIncidents, incident => dayOf(incident.startedAt))
  const window = daysBack(at, PAST_DAYS)
  const older = [...byDay.keys()].filter(date => !window.includes(date) && date < (window.at(-1) ?? '')).sort()
  const blocks: PastBlock[] = []
  for (const date of [...window, ...older.reverse()]) {
    const incidents = byDay.get(date)
    const last = blocks.at(-1)
    if (incidents) blocks.push({ date, incidents })
    else if (last && 'from' in last) last.from = date
    else blocks.push({ from: date, to: date })
  }
  return blocks
}
