import type { Silent } from '../../proto/gen/probe/v1/fleet.ts'
import { type Book, planOf } from './book.ts'
import { ownerOf } from './plan.ts'

/** Other regions are asked at most this often for a monitor, as a share of its interval. */
const SHARE_OF_INTERVAL = 0.5

/**
 * The regions to ask for a check at once because a probe found a target silent (decision 192); it is noted that they were
 * asked. Only the probe that checks the monitor may ask. `nowMs` is monotonic.
 */
export function regionsToAsk(
  book: Book,
  { probeId, region }: { probeId: string; region: string },
  { monitorId, configVersion }: Silent,
  nowMs: number,
): string[] {
  const entry = book.roster.entries.get(monitorId)
  if (entry?.configVersion !== configVersion || ownerOf(planOf(book, region), monitorId) !== probeId) return []
  const sinceAskedMs = nowMs - (entry.othersAskedMs ?? Number.NEGATIVE_INFINITY)
  if (sinceAskedMs < entry.intervalS * 1000 * SHARE_OF_INTERVAL) return []
  entry.othersAskedMs = nowMs
  return entry.regions.filter(other => other !== region)
}
