import type { Severity } from './lifecycle.ts'

/** What the operator has to hear of; `subject` names it as long as it lasts. */
export type Trouble = { subject: string; title: string; severity: Severity; message: string; startedAt: Date }
/** A subject that is well, and why. */
export type Well = { subject: string; message: string }
export type Troubles = { troubles: Trouble[]; wells: Well[] }

/** A region as the fleet left it in the database; `readAt` is the same for all. */
export type RegionSeen = {
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
export const NO_PROBE_PATIENCE_MS = 60_000
/** A region that had a probe so lately is missed, also when no monitor wants it just now. */
const REMEMBERED_MS = 24 * 3_600_000

/** True for a region that monitors use, or that had a probe within the last day. */
export function isWanted({ monitors, lastHeartbeatAt, readAt }: RegionSeen): boolean {
  return monitors > 0 || (lastHeartbeatAt !== null && readAt.getTime() - lastHeartbeatAt.getTime() < REMEMBERED_MS)
}

/**
 * Regions without a live probe. `watchedMs`: for how long the caller has looked without a gap; what nobody
 * wrote down while the control plane was away is no probe's fault. What is neither yet is in neither list.
 */
export function troublesOfRegions(regions: readonly RegionSeen[], watchedMs: number): Troubles {
  const troubles: Trouble[] = []
  const wells: Well[] = []
  for (const seen of regions) {
    const { region, liveProbes, noLiveProbeSince, readAt } = seen
    const subject = `region:${region}`
    if (!isWanted(seen)) wells.push({ subject, message: `No monitor uses ${region} any more.` })
    else if (liveProbes > 0) wells.push({ subject, message: `${region} has a live probe again.` })
    else if (noLiveProbeSince !== null) {
      const missedMs = Math.min(readAt.getTime() - noLiveProbeSince.getTime(), watchedMs)
      if (missedMs >= NO_PROBE_PATIENCE_MS) troubles.push(troubleOf(subject, seen, noLiveProbeSince))
    }
  }
  return { troubles, wells }
}

/** A probe that gets no work for disagreeing with others. */
export type DrainedSeen = { id: string; name: string; region: string; reason: string; drainedUntil: Date }

const PROBE = 'probe:'

/** Drained probes; well is every other one that `open` subjects tell of. */
export function troublesOfProbes(drained: readonly DrainedSeen[], open: readonly string[], now: Date): Troubles {
  const troubles = drained.map(({ id, name, region, reason, drainedUntil }) => ({
    subject: `${PROBE}${id}`,
    title: `Probe ${name} of ${region} is drained: it ${reason}`,
    severity: 'minor' as const,
    message:
      `It contradicted the other probes about many monitors, so others of ${region} check them. It is tried again at ` +
      `${drainedUntil.toISOString()}, or after: npm run admin -- probe undrain ${id}`,
    startedAt: now,
  }))
  const subjects = new Set(troubles.map(({ subject }) => subject))
  const wells = open
    .filter(subject => subject.startsWith(PROBE) && !subjects.has(subject))
    .map(subject => ({ subject, message: 'It is drained no more.' }))
  return { troubles, wells }
}

function troubleOf(subject: string, { region, monitors }: RegionSeen, startedAt: Date): Trouble {
  return {
    subject,
    title: `Region ${region} has no live probe`,
    severity: 'critical',
    message:
      `No probe of ${region} was heard for ${NO_PROBE_PATIENCE_MS / 1_000} s; ${monitors} monitors want one. ` +
      'They have no vote from there, and those checked from there alone keep their status.',
    startedAt,
  }
}
