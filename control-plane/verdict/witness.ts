import { cellsAfterWitness } from './doubt.ts'
import { noVerdict } from './no-verdict.ts'
import { adopt } from './state.ts'
import { weigh } from './status.ts'
import { changeStatus } from './transition.ts'
import type { Counted, Decision, MonitorState, Policy } from './types.ts'

/**
 * What the check of a witness changes: it confirms doubted failures of the monitor's regions, or contradicts them. It is not a
 * vote, and not a result of the monitor: a transition shows the check that it confirmed.
 */
export function hearWitness(state: MonitorState, check: Counted, policy: Policy, nowMs: number): Decision {
  const nothing = noVerdict('aside', null, state, 'no')
  if (check.configVersion !== policy.configVersion || state.configVersion > policy.configVersion) return nothing
  const base = adopt(state, policy, nowMs)
  const cells = cellsAfterWitness(base, check, policy, nowMs)
  if (cells === base.cells) return nothing
  const voted = { ...base, cells }
  const weighed = weigh(base, voted, policy, nowMs)
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
