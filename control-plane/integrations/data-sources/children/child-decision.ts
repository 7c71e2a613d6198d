import { FailureSource, Outcome } from '../../../../shared/checks/result.ts'
import { DATA_SOURCE_REGION, type StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { VerdictChange } from '../../../verdict/core/decision-actions.ts'
import { decideSingleSource } from '../../../verdict/core/rules/single-source.ts'
import type { ExplainedValue, MonitorState } from '../../../verdict/core/types.ts'
import type { EvaluatedChild } from '../evaluation/evaluate.ts'
import type { RuleType } from '../types.ts'

/** A monitor on its locked row; `state` null: new, resumed, or back from the archive. */
export type TrackedChild = { monitor: StoredMonitor; state: MonitorState | null }

/** What a fetch says of one monitor. `sight`: nothing can be said, or again the same; see storeSights. */
export type ChildDecision =
  | { kind: 'verdict'; change: VerdictChange }
  | { kind: 'sight'; status: StoredMonitor['status']; summary: string; value: ExplainedValue | null }
  | { kind: 'same' }

const UNCHANGED: ChildDecision = { kind: 'same' }
export const OUTCOMES = { up: Outcome.UP, degraded: Outcome.DEGRADED, down: Outcome.DOWN, unknown: Outcome.UNKNOWN }

export type ChildObservation = { found: EvaluatedChild; rule: RuleType; atMs: number; responseTimeMs: number }

/** What a value in the document says of its monitor (decisions 4.9 and 9.4). */
export function decideChild(
  { monitor, state }: TrackedChild,
  { found, rule, atMs, responseTimeMs }: ChildObservation,
): ChildDecision {
  if (monitor.isPaused) return UNCHANGED
  if (found.outcome === 'unknown') return decideUnknown({ monitor }, `${found.reason}.`)
  const { id, configVersion, intervalSeconds, timeoutMs } = monitor
  const voter = { id, configVersion, intervalMs: intervalSeconds * 1_000, timeoutMs }
  const said = { atMs, outcome: OUTCOMES[found.outcome], responseTimeMs, error: toCheckError(found) }
  const decision = decideSingleSource(DATA_SOURCE_REGION, voter, state, said)
  const value = { field_id: found.fieldId, key: found.key, rule, value: found.value, reason: found.reason }
  const { transition } = decision
  if (transition !== null) {
    const explained = { ...transition, explanation: { ...transition.explanation, data_source: value } }
    const change = { monitorId: id, configVersion, state: decision.state, transitions: [explained] }
    return { kind: 'verdict', change }
  }
  const { status } = decision.state
  return status === monitor.status ? UNCHANGED : { kind: 'sight', status, summary: `${found.reason}.`, value }
}

/** Nothing can be said of a monitor, because of `why`: a sentence. */
export function decideUnknown({ monitor }: Pick<TrackedChild, 'monitor'>, why: string): ChildDecision {
  return monitor.status === null ? UNCHANGED : { kind: 'sight', status: null, summary: why, value: null }
}

/** Why a value is not as its rule wants it; the source did answer, so it is the value that is to blame. */
export function toCheckError({ outcome, reason }: Pick<EvaluatedChild, 'outcome' | 'reason'>) {
  if (outcome === 'up') return null
  return { source: FailureSource.TARGET, code: outcome === 'unknown' ? 'unknown' : 'rule', message: reason }
}
