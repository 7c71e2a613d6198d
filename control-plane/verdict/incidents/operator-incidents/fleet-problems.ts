import type { Severity } from '../lifecycle.ts'

/** What the operator has to hear of; `subject` names it as long as it lasts. */
export type FleetProblem = { subject: string; title: string; severity: Severity; message: string; startedAt: Date }
/** A subject that is well, and why. */
export type FleetRecovery = { subject: string; message: string }
export type FleetReport = { problems: FleetProblem[]; recoveries: FleetRecovery[] }

/** A region as the fleet left it in the database; `readAt` is the same for all. */
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
 * A probe is dead after 10 s and its work moved within 15; one that is started anew, or a control plane that is, needs
 * some twenty. No vote has ended before 60 s: it lasts three intervals, of 30 s at least (decisions 4.4).
 */
export const NO_PROBE_GRACE_MS = 60_000
/** A region that had a probe so lately is missed, also when no monitor wants it just now. */
const RECENT_PROBE_MS = 24 * 3_600_000

/** True for a region that monitors use, or that had a probe within the last day. */
export function isRegionInUse({ monitors, lastHeartbeatAt, readAt }: RegionHealth): boolean {
  return monitors > 0 || (lastHeartbeatAt !== null && readAt.getTime() - lastHeartbeatAt.getTime() < RECENT_PROBE_MS)
}

/**
 * Regions without a live probe. `watchedMs`: for how long the caller has looked without a gap; what nobody
 * wrote down while the control plane was away is no probe's fault. What is neither yet is in neither list.
 */
export function findRegionProblems(regions: readonly RegionHealth[], watchedMs: number): FleetReport {
  const problems: FleetProblem[] = []
  const recoveries: FleetRecovery[] = []
  for (const seen of regions) {
    const { region, liveProbes, noLiveProbeSince, readAt } = seen
    const subject = `region:${region}`
    if (!isRegionInUse(seen)) recoveries.push({ subject, message: `No monitor uses ${region} any more.` })
    else if (liveProbes > 0) recoveries.push({ subject, message: `${region} has a live probe again.` })
    else if (noLiveProbeSince !== null) {
      const missedMs = Math.min(readAt.getTime() - noLiveProbeSince.getTime(), watchedMs)
      if (missedMs >= NO_PROBE_GRACE_MS) problems.push(buildRegionProblem(subject, seen, noLiveProbeSince))
    }
  }
  return { problems, recoveries }
}

/** A probe that gets no work for disagreeing with others. */
export type DrainedProbeSummary = { id: string; name: string; region: string; reason: string; drainedUntil: Date }

const PROBE = 'probe:'

/** Drained probes; well is every other one that `open` subjects tell of. */
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
      `It contradicted the other probes about many monitors, so others of ${region} check them. It is tried again at ` +
      `${drainedUntil.toISOString()}, or after: npm run admin -- probe undrain ${id}`,
    startedAt: now,
  }))
  const subjects = new Set(problems.map(({ subject }) => subject))
  const recoveries = open
    .filter(subject => subject.startsWith(PROBE) && !subjects.has(subject))
    .map(subject => ({ subject, message: 'It is drained no more.' }))
  return { problems, recoveries }
}

function buildRegionProblem(subject: string, { region, monitors }: RegionHealth, startedAt: Date): FleetProblem {
  return {
    subject,
    title: `Region ${region} has no live probe`,
    severity: 'critical',
    message:
      `No probe of ${region} was heard for ${NO_PROBE_GRACE_MS / 1_000} s; ${monitors} monitors want one. ` +
      'They have no vote from there, and those checked from there alone keep their status.',
    startedAt,
  }
}
