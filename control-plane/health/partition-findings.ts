import { humanDuration } from '../events/duration.ts'
import type { NatsFacts, PartitionFact, PostgresFacts } from './facts.ts'
import { type Finding, unwell, well } from './finding.ts'

/** A position is stored every 5 s at least. */
const BEHIND_MS = 30_000
const ADVICE =
  'Does a process with the role verdict run, and can it reach PostgreSQL and NATS? Its log says why a partition stops.'

/** Whether each partition has a reader, and whether it counts what comes. */
export function partitionFindings({ nowMs, partitions }: PostgresFacts, nats: NatsFacts): Finding[] {
  return [...ownership(partitions), ...progress(nowMs, partitions, nats)]
}

function ownership(partitions: PartitionFact[]): Finding[] {
  const without = partitions.filter(({ hasOwner }) => !hasOwner)
  if (without.length === 0) return [well('partitions', `All ${partitions.length} partitions of results have an owner`)]
  return [
    unwell(
      'partitions',
      `No process reads ${without.length} of ${partitions.length} partitions of results: ${idsOf(without)}`,
      oldest(without.map(({ leaseUntilMs }) => leaseUntilMs)),
      ADVICE,
    ),
  ]
}

/** The age of the oldest message that waits is measured by JetStream's clock, which gave the message its time. */
function progress(
  nowMs: number,
  partitions: PartitionFact[],
  { nowMs: logMs, uncounted, streams }: NatsFacts,
): Finding[] {
  const waitingSince = ({ id }: PartitionFact) => uncounted.get(id)?.takenAtMs ?? null
  const behind = partitions.filter(partition => {
    const sinceMs = waitingSince(partition)
    return sinceMs !== null && (logMs ?? nowMs) - sinceMs > BEHIND_MS
  })
  if (behind.length > 0) {
    const text = `Results arrive, and ${behind.length} of ${partitions.length} partitions are not counted on: ${idsOf(behind)}`
    return [unwell('verdicts', text, oldest(behind.map(waitingSince)), ADVICE)]
  }
  const lastAtMs = streams.find(({ name }) => name === 'RESULTS')?.lastAtMs ?? 0
  const arrived = lastAtMs > 0 ? `the newest came ${humanDuration((logMs ?? nowMs) - lastAtMs)} ago` : 'none came yet'
  return [well('verdicts', `Results are counted as they come; ${arrived}`)]
}

const idsOf = (partitions: PartitionFact[]) => partitions.map(({ id }) => id).join(', ')

function oldest(times: (number | null)[]): number | null {
  const known = times.filter(time => time !== null)
  return known.length > 0 ? Math.min(...known) : null
}
