import { REGIONS } from '../../../../shared/checks/check.ts'
import { RESULTS_STREAM, regionFilter } from '../../../../shared/nats/subjects.ts'
import { findLastMessage } from '../../../foundation/platform/nats/ordered-reader.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { ReaderTools } from '../reading-actions.ts'

/** The newest message of each region when JetStream was asked last, by its position in the stream, and when that was. */
export type RegionPositions = Map<string, { sequence: number; askedMs: number }>

/**
 * Asks JetStream whether results of each region have arrived since the last time, because other processes read most
 * partitions. They show that the probes of the region can publish. A message counts from the time when JetStream was asked
 * before, because it may have arrived directly after that, and JetStream's own clock may be set.
 */
export async function updateArrivals(
  { nats, regionCoverage }: Pick<ReaderTools, 'nats' | 'regionCoverage'>,
  seen: RegionPositions,
): Promise<void> {
  await Promise.all(
    REGIONS.map(async region => {
      const askedMs = monotonicMs()
      const last = await findLastMessage(nats, RESULTS_STREAM, regionFilter(region))
      const sequence = last?.sequence ?? 0
      const before = seen.get(region)
      seen.set(region, { sequence, askedMs })
      if (before === undefined || sequence <= before.sequence) return
      const { receivedMs } = regionCoverage
      receivedMs.set(region, Math.max(before.askedMs, receivedMs.get(region) ?? Number.NEGATIVE_INFINITY))
    }),
  )
}
