import { decide } from '../../../../verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../verdict/core/rules/state.ts'
import type { MonitorState, StatusTransition } from '../../../../verdict/core/types.ts'
import { markUnchecked } from '../../../../verdict/core/unknown-status/unchecked.ts'
import { toVerdictResult } from '../../../../verdict/reader/counting/decode.ts'
import { changeAttempt } from './changed-attempt.ts'
import { createLiveSetHistory } from './live-set-history.ts'
import { createPolicyHistory } from './policy-history.ts'
import type {
  RegionChange,
  SettingsChange,
  StatusStep,
  StoredAttempt,
  StoredPolicy,
  StoredStatus,
  StoredStep,
} from './types.ts'

export type RehearsalInputs = {
  monitorId: string
  /** in ascending order, not empty */
  policies: readonly StoredPolicy[]
  /** of each region in ascending order */
  regionChanges: readonly RegionChange[]
  /** the stored changes to no status, in ascending order: they do not follow from results */
  losses: readonly StoredStep[]
  initial: StoredStatus
}

type Rehearsal = {
  /** Decides one result. They must come in the order in which JetStream took them. */
  add(attempt: StoredAttempt): void
  /** Applies what happened until `toMs`. Returns all changes of the status, in order. */
  finish(toMs: number): StatusStep[]
}

/**
 * Repeats the decisions of a monitor, with the rules of the verdict, under the stored settings changed by `change`. Nothing
 * is counted twice and nothing is stored.
 */
export function createRehearsal(inputs: RehearsalInputs, change: SettingsChange): Rehearsal {
  const { monitorId, losses } = inputs
  const policies = createPolicyHistory(monitorId, inputs.policies, change)
  const liveSets = createLiveSetHistory(inputs.regionChanges)
  const steps: StatusStep[] = []
  let state = buildInitialState(monitorId, inputs.initial)
  let nextLoss = 0
  let pauses = 0

  function applyLosses(nowMs: number): void {
    while (nextLoss < losses.length && losses[nextLoss]!.knownAtMs <= nowMs) {
      const loss = losses[nextLoss++]!
      const isShown = state.status !== null && !state.unchecked
      if (isShown) steps.push({ ...toStep(loss), kind: loss.kind })
      if (loss.kind === 'removed') state = createMonitorState(monitorId, 0)
      else if (isShown) state = { ...markUnchecked(state, loss.atMs), unchecked: { sinceMs: loss.atMs, isTold: true } }
    }
  }

  return {
    add({ region, probeId, result, takenAtMs }) {
      applyLosses(takenAtMs)
      const absences = liveSets.absencesAt(takenAtMs)
      const policy = policies.at(takenAtMs, result.configVersion, absences)
      if (policies.countPauses() > pauses) state = createMonitorState(monitorId, policy?.configVersion ?? 0)
      pauses = policies.countPauses()
      if (policy === null || !liveSets.isAccepted(region, probeId, result.epoch)) return
      const changed = changeAttempt(region, result, change)
      if (changed === null) return
      const counted = toVerdictResult({ region, probeId, results: [] }, changed)
      const decision = decide(state, counted, policy, takenAtMs)
      state = decision.state
      if (decision.transition) steps.push(toVerdictStep(decision.transition))
    },
    finish(toMs) {
      applyLosses(toMs)
      return steps
    },
  }
}

const toStep = ({ atMs, to, firstFailureMs }: StatusStep) => ({ atMs, to, firstFailureMs })

function toVerdictStep({ atMs, to, explanation }: StatusTransition): StatusStep {
  const { first_failure_at: first } = explanation.timings
  return { atMs, to, kind: 'verdict', firstFailureMs: first === null ? null : Date.parse(first) }
}

/** The status is known, the regions are not: they begin as after a change of all probes. */
function buildInitialState(
  monitorId: string,
  { status, sinceMs, outageSinceMs, uncheckedSinceMs }: StoredStatus,
): MonitorState {
  const unchecked = uncheckedSinceMs === null ? null : { sinceMs: uncheckedSinceMs, isTold: true }
  return { ...createMonitorState(monitorId, 0), status, statusSinceMs: sinceMs, outageSinceMs, unchecked }
}
