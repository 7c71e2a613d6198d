import type { Severity } from '../lifecycle.ts'

/** A problem for the operator. `subject` identifies it while it lasts. */
type FleetProblem = { subject: string; title: string; severity: Severity; message: string; startedAt: Date }
/** A subject without a problem, and the reason. */
type FleetRecovery = { subject: string; message: string }
export type FleetReport = { problems: FleetProblem[]; recoveries: FleetRecovery[] }

/** A region as the fleet stored it; `readAt` is the same for all. */
export type RegionHealth = {
  region: string
  monitors: number
  liveProbes: number
  drainedProbes: number
  noLiveProbeSince: Date | null
  lastHeartbeatAt: Date | null
  readAt: Date
}

/**
 * A probe is unreachable after 10 s and its work moves within 15 s. A restarted probe or control plane needs some 20 s.
 * No vote ends within 60 s, because it lasts three intervals of at least 30 s.
 */
const NO_PROBE_GRACE_MS = 60_000
/** A region that had a probe within this time is in use, even if no monitor uses it. */
const RECENT_PROBE_MS = 24 * 3_600_000

/** True for a region that monitors use, or that had a probe within the last day. */
export function isRegionInUse({ monitors, lastHeartbeatAt, readAt }: RegionHealth): boolean {
  return monitors > 0 || (lastHeartbeatAt !== null && readAt.getTime() - lastHeartbeatAt.getTime() < RECENT_PROBE_MS)
}

/**
 * Finds regions without a live probe. `watchedMs`: for how long the caller has checked without a gap, because
 * heartbeats are not recorded while the control plane is unavailable. A region that is not yet either is in neither
 * list.
 */
export function findRegionProblems(regions: readonly RegionHealth[], watchedMs: number): FleetReport {
  const problems: FleetProblem[] = []
  const recoveries: FleetRecovery[] = []
  for (const seen of regions) {
    const { region, liveProbes, noLiveProbeSince, readAt } = seen
    const subject = `region:${region}`
    if (!isRegionInUse(seen)) recoveries.push({ subject, message: `No monitor uses ${region} now.` })
    else if (liveProbes > 0) recoveries.push({ subject, message: `${region} has a live probe again.` })
    else if (noLiveProbeSince !== null) {
      const missedMs = Math.min(readAt.getTime() - noLiveProbeSince.getTime(), watchedMs)
      if (missedMs >= NO_PROBE_GRACE_MS) problems.push(buildRegionProblem(subject, seen, noLiveProbeSince))
    }
  }
  return { problems, recoveries }
}

/** A probe that gets no work because it disagrees with others. */
type DrainedProbeSummary = { id: string; name: string; region: string; reason: string; drainedUntil: Date }

const PROBE = 'probe:'

/** Drained probes are problems. Probes in `open` that are not drained have recovered. */
export function findProbeProblems(
  drained: readonly DrainedProbeSummary[],
  open: readonly string[],
  now: Date,
): FleetReport {
  const problems = drained.map(({ id, name, region, reason, drainedUntil }) => ({
    subject: `${PROBE}${id}`,
    title: `Probe ${name} of ${region} is drained: it ${reason}`,
    severity: 'minor' as const,
    message:
      `The probe contradicted other probes about many monitors. Other probes of ${region} check its monitors now. It gets ` +
      `work again at ${drainedUntil.toISOString()}, or after: npm run admin -- probe undrain ${id}`,
    startedAt: now,
  }))
  const subjects = new Set(problems.map(({ subject }) => subject))
  const recoveries = open
    .filter(subject => subject.startsWith(PROBE) && !subjects.has(subject))
    .map(subject => ({ subject, message: 'The probe is no longer drained.' }))
  return { problems, recoveries }
}

function buildRegionProblem(subject: string, { region, monitors }: RegionHealth, startedAt: Date): FleetProblem {
  return {
    subject,
    title: `Region ${region} has no live probe`,
    severity: 'critical',
    message:
      `No probe of ${region} has sent a heartbeat for ${NO_PROBE_GRACE_MS / 1_000} s. ${monitors} monitors use the region. ` +
      'They get no votes from it. Monitors that use only this region lose their status.',
    startedAt,
  }
}
