import { FailureSource, Outcome } from '../../shared/result.ts'
import { DATA_SOURCE_REGION, type StoredMonitor } from '../monitors/types.ts'
import type { Change } from '../verdict/judge.ts'
import { decideAlone } from '../verdict/one-voter.ts'
import type { ExplainedValue, MonitorState } from '../verdict/types.ts'
import type { Child } from './evaluate.ts'
import type { RuleType } from './types.ts'

/** A monitor on its locked row; `state` null: new, resumed, or back from the archive. */
export type Watch = { monitor: StoredMonitor; state: MonitorState | null }

/** What a fetch says of one monitor. `sight`: nothing can be said, or again the same; see storeSights. */
export type Outlook =
  | { kind: 'verdict'; change: Change }
  | { kind: 'sight'; status: StoredMonitor['status']; summary: string; value: ExplainedValue | null }
  | { kind: 'same' }

const SAME: Outlook = { kind: 'same' }
export const OUTCOMES = { up: Outcome.UP, degraded: Outcome.DEGRADED, down: Outcome.DOWN, unknown: Outcome.UNKNOWN }

export type Looked = { found: Child; rule: RuleType; atMs: number; responseTimeMs: number }

/** What a value in the document says of its monitor (decisions 4.9 and 9.4). */
export function outlookOf({ monitor, state }: Watch, { found, rule, atMs, responseTimeMs }: Looked): Outlook {
  if (monitor.isPaused) return SAME
  if (found.outcome === 'unknown') return lost({ monitor }, `${found.reason}.`)
  const { id, configVersion, intervalSeconds, timeoutMs } = monitor
  const voter = { id, configVersion, intervalMs: intervalSeconds * 1_000, timeoutMs }
  const said = { atMs, outcome: OUTCOMES[found.outcome], responseTimeMs, error: errorOf(found) }
  const decision = decideAlone(DATA_SOURCE_REGION, voter, state, said)
  const value = { field_id: found.fieldId, key: found.key, rule, value: found.value, reason: found.reason }
  const { transition } = decision
  if (transition !== null) {
    const explained = { ...transition, explanation: { ...transition.explanation, data_source: value } }
    const change = { monitorId: id, configVersion, state: decision.state, transitions: [explained] }
    return { kind: 'verdict', change }
  }
  const { status } = decision.state
  return status === monitor.status ? SAME : { kind: 'sight', status, summary: `${found.reason}.`, value }
}

/** Nothing can be said of a monitor, because of `why`: a sentence. */
export function lost({ monitor }: Pick<Watch, 'monitor'>, why: string): Outlook {
  return monitor.status === null ? SAME : { kind: 'sight', status: null, summary: why, value: null }
}

/** Why a value is not as its rule wants it; the source did answer, so it is the value that is to blame. */
export function errorOf({ outcome, reason }: Pick<Child, 'outcome' | 'reason'>) {
  if (outcome === 'up') return null
  return { source: FailureSource.TARGET, code: outcome === 'unknown' ? 'unknown' : 'rule', message: reason }
}
