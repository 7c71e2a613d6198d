import type { FleetTiming } from '../timing.ts'
import type { ProbeState } from './live-set.ts'

/** What one process has observed of regions without a probe that can publish. Times are monotonic, in ms. */
type RegionAbsenceState = {
  /** by region: since when this process has found in every round that no probe of it can publish */
  since: Map<string, number>
  checkedAtMs: number
}

export const createRegionAbsenceState = (): RegionAbsenceState => ({
  since: new Map(),
  checkedAtMs: Number.NEGATIVE_INFINITY,
})

type RegionPresence = { absent: string[]; present: string[] }

type Timing = Pick<FleetTiming, 'heartbeatIntervalMs' | 'deadAfterMs'>

/** How long a probe has sent no heartbeat or could not publish, in ms. Its last report about NATS may be `silentMs` old. */
const computeUnableMs = ({ silentMs, natsAwayMs }: ProbeState) => (natsAwayMs > 0 ? natsAwayMs + silentMs : silentMs)

/** Two heartbeats and a half, because a message takes some time. */
const computeReportDeadlineMs = ({ heartbeatIntervalMs }: Timing) => 2.5 * heartbeatIntervalMs

/**
 * Returns the regions without a probe that can publish, and those with one (docs/design/assignments.md#absent-regions). A
 * region is absent when none of its probes could publish for 15 s, and this process has observed that in every round for
 * some seconds, while a probe of another region could. So no region becomes absent because this process has just started or
 * could not read the database, or because NATS or the control plane is unreachable for all. The state of a region in
 * neither list does not change.
 */
export function detectAbsentRegions(
  state: RegionAbsenceState,
  regions: Iterable<string>,
  probes: readonly ProbeState[],
  timing: Timing,
  nowMs: number,
): RegionPresence {
  if (nowMs - state.checkedAtMs > timing.deadAfterMs / 2) state.since.clear()
  state.checkedAtMs = nowMs
  // a draining probe still finishes its checks, and its replacement is connecting
  const usable = probes.filter(probe => !probe.isRevoked)
  const present = [
    ...new Set(
      usable.filter(probe => computeUnableMs(probe) <= computeReportDeadlineMs(timing)).map(({ region }) => region),
    ),
  ]
  for (const region of present) state.since.delete(region)
  if (present.length === 0) {
    state.since.clear()
    return { absent: [], present: [] }
  }
  const absentAfterMs = 1.5 * timing.deadAfterMs
  const observedForMs = absentAfterMs - computeReportDeadlineMs(timing)
  const absent: string[] = []
  for (const region of regions) {
    if (present.includes(region)) continue
    const sinceMs = state.since.get(region) ?? nowMs
    state.since.set(region, sinceMs)
    const shortestMs = Math.min(Infinity, ...usable.filter(probe => probe.region === region).map(computeUnableMs))
    if (nowMs - sinceMs >= observedForMs && shortestMs >= absentAfterMs) absent.push(region)
  }
  return { absent, present }
}

/** Returns the part of the result that differs from the stored rows. A region without a row is neither. */
export function findUnrecorded(
  { absent, present }: RegionPresence,
  stored: readonly { region: string; isAbsent: boolean }[],
): RegionPresence {
  const [absentNow, presentNow] = [new Set(absent), new Set(present)]
  const listRegions = (rows: typeof stored) => rows.map(({ region }) => region)
  return {
    absent: listRegions(stored.filter(({ region, isAbsent }) => !isAbsent && absentNow.has(region))),
    present: listRegions(stored.filter(({ region, isAbsent }) => isAbsent && presentNow.has(region))),
  }
}
