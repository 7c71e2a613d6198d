import { RegionState as WireState } from '../../../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../../../shared/checks/result.ts'
import {
  type RunHint,
  runHintSubject,
  stateHintSubject,
  WITNESS_SUBJECT,
  type WitnessHint,
} from '../../../../shared/nats/subjects.ts'
import type { RegionState } from '../../core/types.ts'
import type { BatchEffects } from '../counting/batch-effects.ts'

/** The effects that hints are built from. */
export type HintInput = Pick<BatchEffects, 'regionStates' | 'asks'>

export type Hint = { subject: string; body: object }

const WIRE_STATES: Record<RegionState, WireState> = {
  pending: WireState.PENDING,
  ok: WireState.OK,
  degraded: WireState.DEGRADED,
  failing: WireState.FAILING,
}

/**
 * The effects without the region states of monitors whose changes were discarded. A probe would take a state of the version
 * before a change for one of the new version, and make no re-checks.
 */
export const withoutDiscarded = ({ regionStates, asks }: HintInput, discarded: ReadonlySet<string>): HintInput => ({
  regionStates: regionStates.filter(({ monitorId }) => !discarded.has(monitorId)),
  asks,
})

/** The hints to publish after effects are stored: region states and requests for checks. They may be lost. */
export function buildHints(input: HintInput, newId: () => string, nowMs: number): Hint[] {
  const states = new Map<string, { monitorId: string; state: WireState }[]>()
  for (const { monitorId, region, state } of input.regionStates) {
    const known = states.get(region) ?? []
    known.push({ monitorId, state: WIRE_STATES[state] })
    states.set(region, known)
  }
  const runHint = (monitorId: string, notProbeId?: string): RunHint => ({
    runId: newId(),
    monitorId,
    trigger: Trigger.SECOND_OPINION,
    scheduledAtMs: nowMs,
    ...(notProbeId !== undefined && { notProbeId }),
  })
  const witnessHint = (monitorId: string, configVersion: number): WitnessHint => ({
    runId: newId(),
    monitorId,
    configVersion,
    scheduledAtMs: nowMs,
  })
  return [
    ...[...states].map(([region, regionStates]) => ({
      subject: stateHintSubject(region),
      body: { states: regionStates },
    })),
    ...input.asks.flatMap(({ monitorId, ask }) => [
      ...ask.regions.map(region => ({ subject: runHintSubject(region), body: runHint(monitorId) })),
      ...ask.otherProbes.map(({ region, notProbeId }) => ({
        subject: runHintSubject(region),
        body: runHint(monitorId, notProbeId),
      })),
      ...(ask.witness === undefined
        ? []
        : [{ subject: WITNESS_SUBJECT, body: witnessHint(monitorId, ask.witness.configVersion) }]),
    ]),
  ]
}
