import { CHECK_TYPES } from '../../../../shared/checks/check.ts'
import type { FleetTiming } from '../timing.ts'

/** The state of a probe at one moment of the database's clock. */
export type ProbeState = {
  id: string
  region: string
  /** since its last message */
  silentMs: number
  /** since it connected */
  steadyMs: number
  isConnected: boolean
  /** its first connection ever */
  isNew: boolean
  isDraining: boolean
  isRevoked: boolean
  /** gets no work because it disagreed with other probes, while others can do it */
  isDrained: boolean
  capabilities: readonly string[]
  /** how long JetStream has taken no results of it; 0: it takes them, or the probe is too old to report it */
  natsAwayMs: number
  /** how long its connectivity test has failed; 0: it passes, or an older process recorded it */
  offlineMs: number
}

/**
 * Returns the probes of one region that get work, in the order of ids (docs/design/assignments.md#live-sets). A live probe
 * stays until it is silent for too long, drains or is revoked. A new probe joins immediately. A probe that reconnected joins
 * after it has been connected for some time, or immediately when there is no other probe. A drained probe gets no work,
 * unless it alone can run a check type. The same applies to a probe whose results JetStream has not taken for 10 s, or whose
 * connectivity test has failed for 10 s, while another probe of the region has neither fault. It does not return until the
 * fault of each other probe has also lasted for 10 s, so that a short fault of another probe moves no work.
 *
 * `canEvict`: false while a silent probe cannot be distinguished from messages that were not recorded, as after a restart of
 * the control plane or an interruption of the database.
 */
export function computeLiveSet(
  current: readonly string[],
  probes: readonly ProbeState[],
  timing: Pick<FleetTiming, 'deadAfterMs' | 'steadyAfterMs'>,
  canEvict: boolean,
): string[] {
  const usable = probes.filter(probe => !probe.isDraining && !probe.isRevoked)
  const isActive = (probe: ProbeState) => probe.silentMs <= timing.deadAfterMs
  const faultMs = ({ natsAwayMs, offlineMs }: ProbeState) => Math.max(natsAwayMs, offlineMs)
  const isAnyWithin = (maxFaultMs: number) =>
    usable.some(probe => isActive(probe) && probe.isConnected && faultMs(probe) <= maxFaultMs)
  const isFaulty = (probe: ProbeState) =>
    faultMs(probe) > timing.deadAfterMs && isAnyWithin(current.includes(probe.id) ? 0 : timing.deadAfterMs)
  const isExcluded = (probe: ProbeState) => probe.isDrained || isFaulty(probe)
  const preferred = usable.filter(probe => !isExcluded(probe))
  const excluded = usable.filter(isExcluded)
  const next = chooseProbes(current, preferred, timing, canEvict)
  const covered = new Set(next.flatMap(probe => probe.capabilities))
  const needed = chooseProbes(current, excluded, timing, canEvict).filter(probe =>
    probe.capabilities.some(type => (CHECK_TYPES as readonly string[]).includes(type) && !covered.has(type)),
  )
  return [...next, ...needed].map(probe => probe.id).sort()
}

function chooseProbes(
  current: readonly string[],
  usable: readonly ProbeState[],
  timing: Pick<FleetTiming, 'deadAfterMs' | 'steadyAfterMs'>,
  canEvict: boolean,
): readonly ProbeState[] {
  const isActive = (probe: ProbeState) => probe.silentMs <= timing.deadAfterMs
  const staying = usable.filter(probe => current.includes(probe.id) && (isActive(probe) || !canEvict))
  const waiting = usable.filter(probe => !current.includes(probe.id) && probe.isConnected && isActive(probe))
  const joining = waiting.filter(probe => probe.isNew || probe.steadyMs >= timing.steadyAfterMs)
  const next = [...staying, ...joining]
  return next.length > 0 ? next : waiting
}

/** True when both lists have the same probes. Both are in the order of ids. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i])
}
