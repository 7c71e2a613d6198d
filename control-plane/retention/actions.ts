import type { Metrics } from '../../shared/metrics.ts'
import { monotonicMs, now, sleep } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { keptSince, RULES, type Rule } from './rules.ts'
import type { Retention } from './settings.ts'
import { deleteBatch, earlierClock, oldestOf } from './store.ts'

/** A table with a large backlog lets the others have their turn after so many batches. */
const BATCHES_A_TURN = 100
const SHORTEST_PAUSE_MS = 20

type Work = { rule: Rule; after: string }
type Outcome = 'done' | 'unfinished' | 'aborted' | 'busy'

/**
 * One pass over all tables, in rounds: a round that is aborted is continued by the next one. A pass ends early when
 * another process is at it. Throws the first fault of a round, after the work that the fault does not concern.
 */
export function createPass({ db, retention, metrics }: { db: Db; retention: Retention; metrics: Metrics }) {
  const rows = metrics.counter('picket_retention_rows_total', 'Rows that were deleted for their age', ['rule'])
  const oldest = metrics.gauge('picket_retention_oldest_seconds', 'Age of the oldest row', ['rule'])
  let left: Work[] = []

  const turn = async (work: Work, clock: Date, faults: unknown[], signal: AbortSignal): Promise<Outcome> => {
    const before = keptSince(work.rule, retention, clock)
    for (let batches = 0; batches < BATCHES_A_TURN; batches++) {
      if (signal.aborted) return 'aborted'
      const startedMs = monotonicMs()
      const batch = await deleteBatch(db, work.rule, before, work.after)
      if (batch === null) return 'busy'
      if (batch.fault) faults.push(batch.fault)
      rows.inc({ rule: work.rule.name }, batch.changed)
      if (batch.after === null) return 'done'
      work.after = batch.after
      await sleep(Math.max(SHORTEST_PAUSE_MS, monotonicMs() - startedMs), signal)
    }
    return 'unfinished'
  }

  return async (signal: AbortSignal): Promise<void> => {
    const clock = await earlierClock(db, now())
    const faults: unknown[] = []
    if (left.length === 0) left = RULES.map(rule => ({ rule, after: rule.order?.first ?? '' }))
    while (left.length > 0 && !signal.aborted) {
      const [work, ...others] = left as [Work, ...Work[]]
      // a table that cannot be worked on keeps none of the others from it
      const outcome = await turn(work, clock, faults, signal).catch((error: unknown) => void faults.push(error))
      if (outcome === 'unfinished') left = [...others, work]
      else if (outcome === 'busy') left = []
      else if (outcome !== 'aborted') left = others
    }
    for (const rule of RULES.filter(({ age }) => age !== null)) {
      if (signal.aborted) break
      oldest.set({ rule: rule.name }, ((await oldestOf(db, rule, clock)) ?? 0) / 1_000)
    }
    if (faults.length > 0) throw faults[0]
  }
}
