import { createNeutralDecision } from '../rules/no-verdict.ts'
import { adoptConfig } from '../rules/state.ts'
import { decideStatus } from '../rules/status.ts'
import { changeStatus } from '../rules/transition.ts'
import type { Decision, MonitorState, Policy, VerdictResult } from '../types.ts'
import { applyWitnessCheck } from './doubt.ts'

/**
 * What the check of a witness changes: it confirms doubted failures of the monitor's regions, or contradicts them. It is not a
 * vote, and not a result of the monitor: a transition shows the check that it confirmed.
 */
export function applyWitnessResult(state: MonitorState, check: VerdictResult, policy: Policy, nowMs: number): Decision {
  const nothing = createNeutralDecision('aside', null, state, 'no')
  if (check.configVersion !== policy.configVersion || state.configVersion > policy.configVersion) return nothing
  const base = adoptConfig(state, policy, nowMs)
  const cells = applyWitnessCheck(base, check, policy, nowMs)
  if (cells === base.cells) return nothing
  const voted = { ...base, cells }
  const weighed = decideStatus(base, voted, policy, nowMs)
  const { quorumLostSinceMs, noMajoritySinceMs } = weighed
  const cell = cells.find(({ doubt }) => doubt?.witness?.check === check)!
  const changed = weighed.status === base.status ? null : changeStatus(voted, weighed, cell.last!, policy, nowMs)
  return {
    ...nothing,
    state: changed?.state ?? { ...voted, quorumLostSinceMs, noMajoritySinceMs },
    store: changed !== null || base !== state ? 'at_once' : 'soon',
    transition: changed?.transition ?? null,
  }
}
