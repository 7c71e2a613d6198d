import type { Metrics } from '../../../shared/process/metrics.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs, now, sleep } from '../../foundation/platform/time/clock.ts'
import { computeCutoff, RETENTION_RULES, type RetentionRule } from './rules.ts'
import type { RetentionSettings } from './settings.ts'
import { deleteBatch, loadEarlierNow, loadOldestAgeMs } from './store.ts'

/** After this many batches of a table, the other tables have their turn. */
const MAX_BATCHES_PER_TURN = 100
const MIN_PAUSE_MS = 20

type RuleProgress = { rule: RetentionRule; after: string }
type TurnOutcome = 'done' | 'unfinished' | 'aborted' | 'busy'

/**
 * One pass over all tables, in rounds: an aborted round is continued by the next one. A pass ends early when another
 * process is working. Throws the first error of a round after the other rules were applied. See
 * docs/design/retention.md#how-rows-are-deleted.
 */
export function createRetentionPass({
  db,
  retention,
  metrics,
}: {
  db: Db
  retention: RetentionSettings
  metrics: Metrics
}) {
  const rows = metrics.counter('picket_retention_rows_total', 'Rows that were deleted because of their age', ['rule'])
  const oldest = metrics.gauge('picket_retention_oldest_seconds', 'Age of the oldest row', ['rule'])
  let left: RuleProgress[] = []

  const applyBatches = async (
    work: RuleProgress,
    clock: Date,
    faults: unknown[],
    signal: AbortSignal,
  ): Promise<TurnOutcome> => {
    const before = computeCutoff(work.rule, retention, clock)
    for (let batches = 0; batches < MAX_BATCHES_PER_TURN; batches++) {
      if (signal.aborted) return 'aborted'
      const startedMs = monotonicMs()
      const batch = await deleteBatch(db, work.rule, before, work.after)
      if (batch === null) return 'busy'
      if (batch.fault) faults.push(batch.fault)
      rows.inc({ rule: work.rule.name }, batch.changed)
      if (batch.after === null) return 'done'
      work.after = batch.after
      await sleep(Math.max(MIN_PAUSE_MS, monotonicMs() - startedMs), signal)
    }
    return 'unfinished'
  }

  return async (signal: AbortSignal): Promise<void> => {
    const clock = await loadEarlierNow(db, now())
    const faults: unknown[] = []
    if (left.length === 0) left = RETENTION_RULES.map(rule => ({ rule, after: rule.order?.first ?? '' }))
    while (left.length > 0 && !signal.aborted) {
      const [work, ...others] = left as [RuleProgress, ...RuleProgress[]]
      // an error of one table does not stop the others
      const outcome = await applyBatches(work, clock, faults, signal).catch((error: unknown) => void faults.push(error))
      if (outcome === 'unfinished') left = [...others, work]
      else if (outcome === 'busy') left = []
      else if (outcome !== 'aborted') left = others
    }
    for (const rule of RETENTION_RULES.filter(({ age }) => age !== null)) {
      if (signal.aborted) break
      oldest.set({ rule: rule.name }, ((await loadOldestAgeMs(db, rule, clock)) ?? 0) / 1_000)
    }
    if (faults.length > 0) throw faults[0]
  }
}
