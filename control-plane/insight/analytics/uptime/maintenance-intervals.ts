import type { UptimeInterval } from './uptime.ts'

type Period = { startsAt: Date; endsAt: Date }

/**
 * Splits intervals at the start and end of maintenance, and marks those inside. Both inputs are ordered by their
 * starts; `periods` may overlap.
 */
export function* markMaintenance(intervals: Iterable<UptimeInterval>, periods: Period[]): Generator<UptimeInterval> {
  const joined = join(periods)
  let first = 0
  for (const interval of intervals) {
    // a period that ended before this interval ended before all later ones
    while (first < joined.length && joined[first]!.endsAt <= interval.from) first++
    yield* cut(interval, joined, first)
  }
}

function join(periods: Period[]): Period[] {
  const joined: Period[] = []
  for (const period of periods) {
    const last = joined.at(-1)
    if (last === undefined || period.startsAt > last.endsAt) joined.push({ ...period })
    else if (period.endsAt > last.endsAt) last.endsAt = period.endsAt
  }
  return joined
}

function* cut(interval: UptimeInterval, periods: Period[], first: number): Generator<UptimeInterval> {
  let from = interval.from
  for (let i = first; i < periods.length; i++) {
    const { startsAt, endsAt } = periods[i]!
    if (startsAt >= interval.to) break
    if (startsAt > from) yield { ...interval, from, to: startsAt }
    const to = new Date(Math.min(endsAt.getTime(), interval.to.getTime()))
    const begins = new Date(Math.max(startsAt.getTime(), from.getTime()))
    yield { ...interval, from: begins, to, isMaintenance: true }
    from = to
  }
  if (from < interval.to) yield { ...interval, from }
}
