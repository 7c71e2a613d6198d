import type { FleetTiming } from '../timing.ts'
import type { ProbeState } from './live-set.ts'

/** What one process has observed of regions without a probe that can publish. Times are monotonic, in ms. */
type RegionAbsenceState = {
  /** by region: since when this process has found in every round that no probe of it can publish */
  since: Map<string, number>
  checkedAtMs: number
  /** the absent regions that were recorded last, and when */
  recorded: { absent: string; atMs: number }
}

export const createRegionAbsenceState = (): RegionAbsenceState => ({
  since: new Map(),
  checkedAtMs: Number.NEGATIVE_INFINITY,
  recorded: { absent: '', atMs: Number.NEGATIVE_INFINITY },
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

/** How often an unchanged result is recorded again, which finds regions that have a probe again. */
const RECORD_INTERVAL_MS = 3_000

/** True when the result must be recorded. Call `markRecorded` after that. */
export const shouldRecord = ({ recorded }: RegionAbsenceState, { absent }: RegionPresence, nowMs: number): boolean =>
  absent.join(' ') !== recorded.absent || nowMs - recorded.atMs >= RECORD_INTERVAL_MS

export function markRecorded(state: RegionAbsenceState, { absent }: RegionPresence, nowMs: number): void {
  state.recorded = { absent: absent.join(' '), atMs: nowMs }
}
