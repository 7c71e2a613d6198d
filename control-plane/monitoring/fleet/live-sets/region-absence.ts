import type { FleetTiming } from '../timing.ts'
import type { ProbeState } from './live-set.ts'

/** What one process has seen of regions without a probe that can publish; times are monotonic, in ms. */
export type RegionAbsenceState = {
  /** by region: since when this process has seen in every look that no probe of it can publish */
  since: Map<string, number>
  checkedAtMs: number
  /** the absent regions that were written down last, and when */
  recorded: { absent: string; atMs: number }
}

export const createRegionAbsenceState = (): RegionAbsenceState => ({
  since: new Map(),
  checkedAtMs: Number.NEGATIVE_INFINITY,
  recorded: { absent: '', atMs: Number.NEGATIVE_INFINITY },
})

export type RegionPresence = { absent: string[]; present: string[] }

type Timing = Pick<FleetTiming, 'heartbeatIntervalMs' | 'deadAfterMs'>

/** For how long a probe has sent no heartbeat or could not publish, in ms; its last report on NATS may be `silentMs` old. */
const computeUnableMs = ({ silentMs, natsAwayMs }: ProbeState) => (natsAwayMs > 0 ? natsAwayMs + silentMs : silentMs)

/** Two heartbeats, and some time on the way. */
const computeReportDeadlineMs = ({ heartbeatIntervalMs }: Timing) => 2.5 * heartbeatIntervalMs

/**
 * Which regions have no probe that can publish, and which have one (decision 195). A region is absent when no probe of it could
 * publish for 15 s and this process has seen that for some seconds, look by look, while a probe of another region was able
 * to. So a process that has just started, one that could not read the database, and NATS or the way to the control plane
 * being away for everybody make no region absent. A region that is in neither list stays what it was.
 */
export function detectAbsentRegions(
  watch: RegionAbsenceState,
  regions: Iterable<string>,
  probes: readonly ProbeState[],
  timing: Timing,
  nowMs: number,
): RegionPresence {
  if (nowMs - watch.checkedAtMs > timing.deadAfterMs / 2) watch.since.clear()
  watch.checkedAtMs = nowMs
  // a draining probe still finishes what it began, and another one is on its way
  const usable = probes.filter(probe => !probe.isRevoked)
  const present = [
    ...new Set(
      usable.filter(probe => computeUnableMs(probe) <= computeReportDeadlineMs(timing)).map(({ region }) => region),
    ),
  ]
  for (const region of present) watch.since.delete(region)
  if (present.length === 0) {
    watch.since.clear()
    return { absent: [], present: [] }
  }
  const absentAfterMs = 1.5 * timing.deadAfterMs
  const seenForMs = absentAfterMs - computeReportDeadlineMs(timing)
  const absent: string[] = []
  for (const region of regions) {
    if (present.includes(region)) continue
    const sinceMs = watch.since.get(region) ?? nowMs
    watch.since.set(region, sinceMs)
    const shortestMs = Math.min(Infinity, ...usable.filter(probe => probe.region === region).map(computeUnableMs))
    if (nowMs - sinceMs >= seenForMs && shortestMs >= absentAfterMs) absent.push(region)
  }
  return { absent, present }
}

/** How often to check whether a region that was without a probe has one again. */
const RECORD_INTERVAL_MS = 3_000

/** Whether what was seen has to be written down; `noteRecorded` has to follow once it is. */
export const shouldRecord = ({ recorded }: RegionAbsenceState, { absent }: RegionPresence, nowMs: number): boolean =>
  absent.join(' ') !== recorded.absent || nowMs - recorded.atMs >= RECORD_INTERVAL_MS

export function markRecorded(watch: RegionAbsenceState, { absent }: RegionPresence, nowMs: number): void {
  watch.recorded = { absent: absent.join(' '), atMs: nowMs }
}
