import { CHECK_TYPES } from '../../../../shared/checks/check.ts'
import type { FleetTiming } from '../timing.ts'

/** A row of `probes` as seen at one moment of the database's clock. */
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
  /** gets no work for what it did, as long as others can do it */
  isDrained: boolean
  capabilities: readonly string[]
  /** for how long JetStream has taken no results of it; 0: it takes them, or an older probe does not say */
  natsAwayMs: number
  /** for how long its test of its own connection has failed; 0: it passes, or an older process wrote it down */
  offlineMs: number
}

/**
 * Which probes of one region get work from now on, in the order of ids (decisions 11.1): whoever has it keeps it until
 * it is silent for too long, drains or is revoked; a new probe joins at once; one that came back joins when it has been
 * steady, or at once when no other probe is there. A drained probe gets none, unless it alone can run a type of check; nor
 * does one whose results JetStream has not taken for 10 s, or which reaches no target for as long, while another probe of
 * the region is without either fault.
 *
 * `canEvict`: false while the caller cannot tell a dead probe from messages that nobody wrote down, as after a restart
 * of the control plane or a pause of the database.
 */
export function computeLiveSet(
  current: readonly string[],
  probes: readonly ProbeState[],
  timing: Pick<FleetTiming, 'deadAfterMs' | 'steadyAfterMs'>,
  canEvict: boolean,
): string[] {
  const usable = probes.filter(probe => !probe.isDraining && !probe.isRevoked)
  const isHeard = (probe: ProbeState) => probe.silentMs <= timing.deadAfterMs
  const troubleMs = ({ natsAwayMs, offlineMs }: ProbeState) => Math.max(natsAwayMs, offlineMs)
  const isAnyFit = usable.some(probe => isHeard(probe) && probe.isConnected && troubleMs(probe) === 0)
  const isPassedOver = (probe: ProbeState) => probe.isDrained || (isAnyFit && troubleMs(probe) > timing.deadAfterMs)
  const trusted = usable.filter(probe => !isPassedOver(probe))
  const drained = usable.filter(isPassedOver)
  const next = chooseProbes(current, trusted, timing, canEvict)
  const covered = new Set(next.flatMap(probe => probe.capabilities))
  const needed = chooseProbes(current, drained, timing, canEvict).filter(probe =>
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
  const isHeard = (probe: ProbeState) => probe.silentMs <= timing.deadAfterMs
  const staying = usable.filter(probe => current.includes(probe.id) && (isHeard(probe) || !canEvict))
  const waiting = usable.filter(probe => !current.includes(probe.id) && probe.isConnected && isHeard(probe))
  const joining = waiting.filter(probe => probe.isNew || probe.steadyMs >= timing.steadyAfterMs)
  const next = [...staying, ...joining]
  return next.length > 0 ? next : waiting
}

/** True when both name the same probes; both in the order of ids. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i])
}
