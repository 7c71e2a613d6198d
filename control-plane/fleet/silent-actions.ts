import type { Silent } from '../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../shared/result.ts'
import { type RunHint, runHintSubject } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import type { Link } from './link.ts'
import { ownerOf } from './plan.ts'

/** Other regions are asked at most this often for a monitor, as a share of its interval. */
const SHARE_OF_INTERVAL = 0.5

/**
 * A target has been silent for a while in one region: asks the monitor's other regions for a check at once, long before
 * the first attempt fails (decision 192). A hint, safe to lose. Only the probe that checks the monitor may ask.
 */
export function askOtherRegions(desk: Desk, { probeId, region }: Link, { monitorId, configVersion }: Silent): void {
  const entry = desk.book.roster.entries.get(monitorId)
  if (entry?.configVersion !== configVersion || ownerOf(planOf(desk.book, region), monitorId) !== probeId) return
  const now = monotonicMs()
  const sinceAskedMs = now - (entry.othersAskedMs ?? Number.NEGATIVE_INFINITY)
  if (sinceAskedMs < entry.intervalS * 1000 * SHARE_OF_INTERVAL) return
  entry.othersAskedMs = now
  for (const other of entry.regions) {
    if (other === region) continue
    const hint: RunHint = {
      runId: newId(),
      monitorId,
      trigger: Trigger.SECOND_OPINION,
      scheduledAtMs: logNowMs(desk.nats),
    }
    desk.nats.connection.publish(runHintSubject(other), JSON.stringify(hint))
  }
}
