import { createNeutralDecision } from '../rules/no-verdict.ts'
import { adoptConfig } from '../rules/state.ts'
import { decideStatus } from '../rules/status.ts'
import { changeStatus } from '../rules/transition.ts'
import type { Decision, MonitorState, Policy, VerdictResult } from '../types.ts'
import { applyWitnessCheck } from './doubt.ts'

/**
 * Applies the check of a witness: it confirms or contradicts doubted failures of the monitor's regions. It is neither a
 * vote nor a result of the monitor, so a transition shows the check that it confirmed.
 */
export function applyWitnessResult(state: MonitorState, check: VerdictResult, policy: Policy, nowMs: number): Decision {
  const neutral = createNeutralDecision('out_of_band', null, state, 'no')
  if (check.configVersion !== policy.configVersion || state.configVersion > policy.configVersion) return neutral
  const base = adoptConfig(state, policy, nowMs)
  const cells = applyWitnessCheck(base, check, policy, nowMs)
  if (cells === base.cells) return neutral
  const voted = { ...base, cells }
  const decided = decideStatus(base, voted, true, policy, nowMs)
  const { quorumLostSinceMs, noMajoritySinceMs } = decided
  const cell = cells.find(({ doubt }) => doubt?.witness?.check === check)!
  const changed = decided.status === base.status ? null : changeStatus(voted, decided, cell.last!, policy, nowMs)
  return {
    ...neutral,
    state: changed?.state ?? { ...voted, quorumLostSinceMs, noMajoritySinceMs },
    store: changed !== null || base !== state ? 'at_once' : 'soon',
    transition: changed?.transition ?? null,
  }
}
