import { RESULTS_STREAM } from '../../../../shared/nats/subjects.ts'
import { formatDuration } from '../../../alerting/events/duration.ts'
import type { NatsFacts, PartitionFact, PostgresFacts } from '../facts.ts'
import { type HealthFinding, NO_TIME, reportHealthy, reportProblem, reportUnknown } from './health-finding.ts'

/** Normally a position is stored at least every 5 s. */
const MAX_LAG_MS = 30_000
const ADVICE =
  'Check that a process with the role verdict runs and can reach PostgreSQL and NATS. Its log names the reason why a partition stops.'

/** Whether each partition has a reader. PostgreSQL alone knows it. */
export function assessOwnership({ partitions }: PostgresFacts): HealthFinding[] {
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

/**
 * Whether the readers keep up. The age of the oldest uncounted message is measured by JetStream's clock, which gave the
 * message its time.
 */
export function assessProgress(
  { partitions }: PostgresFacts,
  { nowMs, uncounted, streams, unread: silent }: NatsFacts,
): HealthFinding[] {
  const waitingSince = ({ id }: PartitionFact) => uncounted.get(id)?.takenAtMs ?? null
  const behind = partitions.filter(partition => {
    const sinceMs = waitingSince(partition)
    return sinceMs !== null && nowMs !== null && nowMs - sinceMs > MAX_LAG_MS
  })
  const unread = partitions.filter(({ id }) => silent.partitions.includes(id))
  const undated = partitions.filter(({ id }) => nowMs === null && uncounted.has(id))
  const of = (some: PartitionFact[]) => `${some.length} of ${partitions.length} partitions`
  const found: HealthFinding[] = []
  if (behind.length > 0) {
    const text = `Results arrive, but ${of(behind)} do not keep up: ${formatIds(behind)}`
    found.push(reportProblem('verdicts', text, findOldest(behind.map(waitingSince)), ADVICE))
  }
  const describeUnknown = (some: PartitionFact[]) => `whether ${of(some)} keep up (${formatIds(some)})`
  if (unread.length > 0) found.push(reportUnknown('verdicts', describeUnknown(unread)))
  if (undated.length > 0) found.push(reportUnknown('verdicts', describeUnknown(undated), NO_TIME))
  if (found.length > 0) return found
  const lastAtMs = streams.find(({ name }) => name === RESULTS_STREAM)?.lastAtMs ?? 0
  const newest = nowMs === null ? 'some have arrived' : `the newest arrived ${formatDuration(nowMs - lastAtMs)} ago`
  return [
    reportHealthy('verdicts', `Results are counted as they arrive; ${lastAtMs > 0 ? newest : 'none has arrived yet'}`),
  ]
}

const formatIds = (partitions: PartitionFact[]) => partitions.map(({ id }) => id).join(', ')

function findOldest(times: (number | null)[]): number | null {
  const known = times.filter(time => time !== null)
  return known.length > 0 ? Math.min(...known) : null
}
