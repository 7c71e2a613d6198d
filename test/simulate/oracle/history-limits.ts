import type { Chronicle, RecordedFault } from './chronicle.ts'

/** From the time at which ClickHouse, NATS and a recorder work until a result is in the history (docs/design/history.md#recorder). */
const RECORDED_WITHIN_MS = 60_000

type Period = { fromMs: number; toMs: number }

type HistoryLimits = {
  /** until when a result must be in the history if there was no fault */
  plainLimitMs: (storedMs: number) => number
  /** the same with the faults under way: the limit begins at the end of each */
  limitMs: (storedMs: number) => number
  isPlain: (fromMs: number, toMs: number) => boolean
  /** whether a result has to be recorded at all (docs/design/history.md#whose-results) */
  isRequired: (key: string, storedMs: number, nowMs: number) => boolean
}

export type JudgedFacts = Pick<Chronicle, 'beginMs' | 'monitors' | 'faults'>

export function createHistoryLimits({ beginMs, monitors, faults }: JudgedFacts): HistoryLimits {
  const byId = new Map(monitors.map(monitor => [monitor.id, monitor]))
  const ofKind = (pattern: RegExp) => faults.filter(({ kind }) => pattern.test(kind))
  const restored = ofKind(/^postgres-restored$/)
  const firstClockMs = Math.min(Number.POSITIVE_INFINITY, ...ofKind(/clock-set$/).map(({ fromMs }) => fromMs))
  const holds = [
    ...ofKind(/^(clickhouse-away|clickhouse-answers-lost|nats-away)$/),
    ...findTimesWithoutRecorder(faults),
  ]
  holds.sort((a, b) => a.fromMs - b.fromMs)
  const plainLimitMs = (storedMs: number) => storedMs + RECORDED_WITHIN_MS
  return {
    plainLimitMs,
    isPlain: (fromMs, toMs) => !holds.some(hold => hold.fromMs <= toMs && hold.toMs + RECORDED_WITHIN_MS >= fromMs),
    limitMs(storedMs) {
      let limitMs = plainLimitMs(storedMs)
      for (const { fromMs, toMs } of holds)
        if (fromMs <= limitMs) limitMs = Math.max(limitMs, toMs + RECORDED_WITHIN_MS)
      return limitMs
    },
    isRequired(key, storedMs, nowMs) {
      const [monitorId, region, scheduledAtMs] = JSON.parse(`[${key}]`)
      const { settings } = byId.get(monitorId)!
      const scheduledMs = scheduledAtMs - beginMs
      const isCheckedAt = (ms: number) => settings.findLast(one => one.fromMs <= ms)?.regions.includes(region) === true
      const later = settings.filter(({ fromMs }) => fromMs > storedMs && fromMs <= nowMs)
      if (isCheckedAt(storedMs) && later.every(({ regions }) => regions.includes(region))) return true
      // the time of a check and of a change of regions are of different clocks, and a restore loses changes
      if (firstClockMs <= nowMs || restored.some(({ fromMs, toMs }) => fromMs <= nowMs && toMs >= scheduledMs))
        return false
      return isCheckedAt(scheduledMs)
    },
  }
}

const PROCESSES = ['a', 'b']
const isOverlapping = (one: Period, other: Period) => one.fromMs <= other.toMs && other.fromMs <= one.toMs

/** When all processes have ended, or have just started and wait for PostgreSQL. */
function findTimesWithoutRecorder(faults: readonly RecordedFault[]): Period[] {
  const postgres = faults.filter(({ kind }) => /^postgres-(away|restored)$/.test(kind))
  const [first, second] = PROCESSES.map(name =>
    faults
      .filter(({ kind, place }) => kind === 'control-plane-redeployed' || (kind === 'fleet-killed' && place === name))
      .map(({ fromMs, toMs }): Period => {
        const waits = postgres.filter(outage => isOverlapping(outage, { fromMs, toMs }))
        return { fromMs, toMs: Math.max(toMs, ...waits.map(outage => outage.toMs)) }
      }),
  )
  return first!.flatMap(one =>
    second!
      .filter(other => isOverlapping(one, other))
      .map(other => ({ fromMs: Math.max(one.fromMs, other.fromMs), toMs: Math.min(one.toMs, other.toMs) })),
  )
}
