import { FailureSource, Outcome } from '../../../../shared/checks/result.ts'
import { DATA_SOURCE_REGION, type StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { VerdictChange } from '../../../verdict/core/decision-actions.ts'
import { decideSingleSource } from '../../../verdict/core/rules/single-source.ts'
import type { ExplainedValue, MonitorState } from '../../../verdict/core/types.ts'
import type { EvaluatedChild } from '../evaluation/evaluate.ts'
import type { RuleType } from '../types.ts'

/** A monitor with its locked row. `state` is null when it is new, resumed, or back from the archive. */
export type TrackedChild = { monitor: StoredMonitor; state: MonitorState | null }

/** What a fetch decides about one monitor. `status`: it becomes unknown, or has its earlier status again (storeUnknownTransitions). */
export type ChildDecision =
  | { kind: 'verdict'; change: VerdictChange }
  | { kind: 'status'; status: StoredMonitor['status']; summary: string; value: ExplainedValue | null }
  | { kind: 'same' }

const UNCHANGED: ChildDecision = { kind: 'same' }
export const OUTCOMES = { up: Outcome.UP, degraded: Outcome.DEGRADED, down: Outcome.DOWN, unknown: Outcome.UNKNOWN }

type ChildObservation = { found: EvaluatedChild; rule: RuleType; atMs: number; responseTimeMs: number }

/** Decides the status of a monitor from its value in the document (docs/design/data-sources.md#children). */
export function decideChild(
  { monitor, state }: TrackedChild,
  { found, rule, atMs, responseTimeMs }: ChildObservation,
): ChildDecision {
  if (monitor.isPaused) return UNCHANGED
  if (found.outcome === 'unknown') return decideUnknown({ monitor }, `${found.reason}.`)
  const { id, configVersion, intervalSeconds, timeoutMs } = monitor
  const voter = { id, configVersion, intervalMs: intervalSeconds * 1_000, timeoutMs }
  const observation = { atMs, outcome: OUTCOMES[found.outcome], responseTimeMs, error: toCheckError(found) }
  const decision = decideSingleSource(DATA_SOURCE_REGION, voter, state, observation)
  const value = { field_id: found.fieldId, key: found.key, rule, value: found.value, reason: found.reason }
  const { transition } = decision
  if (transition !== null) {
    const explained = { ...transition, explanation: { ...transition.explanation, data_source: value } }
    const change = { monitorId: id, configVersion, state: decision.state, transitions: [explained] }
    return { kind: 'verdict', change }
  }
  const { status } = decision.state
  return status === monitor.status ? UNCHANGED : { kind: 'status', status, summary: `${found.reason}.`, value }
}

/** The status of a monitor is unknown. `reason` is a sentence. */
export function decideUnknown({ monitor }: Pick<TrackedChild, 'monitor'>, reason: string): ChildDecision {
  return monitor.status === null ? UNCHANGED : { kind: 'status', status: null, summary: reason, value: null }
}

/** The error of a value that does not match its rule. The source responded, so the target is the cause. */
export function toCheckError({ outcome, reason }: Pick<EvaluatedChild, 'outcome' | 'reason'>) {
  if (outcome === 'up') return null
  return { source: FailureSource.TARGET, code: outcome === 'unknown' ? 'unknown' : 'rule', message: reason }
}
