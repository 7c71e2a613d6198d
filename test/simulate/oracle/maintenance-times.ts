import type { Chronicle } from './chronicle.ts'

/** From the first moment until before the second. */
type Span = { fromMs: number; toMs: number }

/** When a monitor was in maintenance; `possible` also has the times at which processes may disagree. Ordered, apart from each other. */
export type MaintenanceTimes = { certain: Span[]; possible: Span[] }

/** A process follows PostgreSQL's clock within this time (docs/design/suppression.md#maintenance). */
const FOLLOWED_WITHIN_MS = 2_000
/** Clocks are exact to this. */
const EXACT_MS = 5
const AWAY = /^postgres-(away|restored)$/

/** A time during which PostgreSQL's clock was ahead by `aheadMs`. `followedMs`: from then on each process knew that. */
type ClockPeriod = Span & { aheadMs: number; followedMs: number }

/** Periods begin and end by PostgreSQL's clock, which stays wrong after it was set. */
export function createMaintenanceTimes(chronicle: Chronicle): (monitorId: string) => MaintenanceTimes {
  const clock = listClockPeriods(chronicle)
  return monitorId => {
    const own = chronicle.windows.filter(window => window.monitorId === monitorId)
    const spans = own.flatMap(({ fromMs, toMs, storedMs }) =>
      clock.map((period, i) => {
        const until = clock[i + 1]?.followedMs ?? Number.POSITIVE_INFINITY
        const [beginMs, endMs] = [Math.max(fromMs - period.aheadMs, storedMs), toMs - period.aheadMs]
        return {
          possible: { fromMs: Math.max(beginMs, period.fromMs) - EXACT_MS, toMs: Math.min(endMs, until) + EXACT_MS },
          certain: {
            fromMs: Math.max(beginMs, period.followedMs) + EXACT_MS,
            toMs: Math.min(endMs, period.toMs) - EXACT_MS,
          },
        }
      }),
    )
    return {
      certain: mergeSpans(spans.map(({ certain }) => certain)),
      possible: mergeSpans(spans.map(({ possible }) => possible)),
    }
  }
}

function listClockPeriods({ faults }: Chronicle): ClockPeriod[] {
  const periods: ClockPeriod[] = [{ fromMs: 0, toMs: Number.POSITIVE_INFINITY, aheadMs: 0, followedMs: 0 }]
  const away = faults.filter(({ kind }) => AWAY.test(kind)).sort((a, b) => a.fromMs - b.fromMs)
  const steps = faults.filter(({ kind }) => kind === 'postgres-clock-set').sort((a, b) => a.fromMs - b.fromMs)
  for (const { fromMs, size } of steps) {
    const before = periods.at(-1)!
    before.toMs = fromMs
    let followedMs = fromMs + FOLLOWED_WITHIN_MS
    for (const one of away)
      if (one.fromMs <= followedMs && one.toMs >= fromMs) followedMs = one.toMs + FOLLOWED_WITHIN_MS
    periods.push({ fromMs, toMs: Number.POSITIVE_INFINITY, aheadMs: before.aheadMs + size, followedMs })
  }
  return periods
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = []
  for (const span of spans.filter(({ fromMs, toMs }) => fromMs < toMs).sort((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1)
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs)
    else merged.push({ ...span })
  }
  return merged
}
