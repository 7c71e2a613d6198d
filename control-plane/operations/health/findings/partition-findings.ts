import { formatDuration } from '../../../alerting/events/duration.ts'
import type { NatsFacts, PartitionFact, PostgresFacts } from '../facts.ts'
import { type HealthFinding, reportHealthy, reportProblem } from './health-finding.ts'

/** Normally a position is stored at least every 5 s. */
const MAX_LAG_MS = 30_000
const ADVICE =
  'Check that a process with the role verdict runs and can reach PostgreSQL and NATS. Its log names the reason why a partition stops.'

/** Whether each partition has a reader, and whether the reader keeps up. */
export function assessPartitions({ nowMs, partitions }: PostgresFacts, nats: NatsFacts): HealthFinding[] {
  return [...assessOwnership(partitions), ...assessProgress(nowMs, partitions, nats)]
}

function assessOwnership(partitions: PartitionFact[]): HealthFinding[] {
  const without = partitions.filter(({ hasOwner }) => !hasOwner)
  if (without.length === 0)
    return [reportHealthy('partitions', `All ${partitions.length} partitions of results have an owner`)]
  return [
    reportProblem(
      'partitions',
      `No process reads ${without.length} of ${partitions.length} partitions of results: ${formatIds(without)}`,
      findOldest(without.map(({ leaseUntilMs }) => leaseUntilMs)),
      ADVICE,
    ),
  ]
}

/** The age of the oldest uncounted message is measured by JetStream's clock, which gave the message its time. */
function assessProgress(
  nowMs: number,
  partitions: PartitionFact[],
  { nowMs: logMs, uncounted, streams }: NatsFacts,
): HealthFinding[] {
  const waitingSince = ({ id }: PartitionFact) => uncounted.get(id)?.takenAtMs ?? null
  const behind = partitions.filter(partition => {
    const sinceMs = waitingSince(partition)
    return sinceMs !== null && (logMs ?? nowMs) - sinceMs > MAX_LAG_MS
  })
  if (behind.length > 0) {
    const text = `Results arrive, but ${behind.length} of ${partitions.length} partitions do not keep up: ${formatIds(behind)}`
    return [reportProblem('verdicts', text, findOldest(behind.map(waitingSince)), ADVICE)]
  }
  const lastAtMs = streams.find(({ name }) => name === 'RESULTS')?.lastAtMs ?? 0
  const arrived =
    lastAtMs > 0 ? `the newest arrived ${formatDuration((logMs ?? nowMs) - lastAtMs)} ago` : 'none has arrived yet'
  return [reportHealthy('verdicts', `Results are counted as they arrive; ${arrived}`)]
}

const formatIds = (partitions: PartitionFact[]) => partitions.map(({ id }) => id).join(', ')

function findOldest(times: (number | null)[]): number | null {
  const known = times.filter(time => time !== null)
  return known.length > 0 ? Math.min(...known) : null
}
