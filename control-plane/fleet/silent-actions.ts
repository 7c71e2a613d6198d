import type { Silent } from '../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../shared/result.ts'
import { type RunHint, runHintSubject } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import type { Desk } from './desk.ts'
import type { Link } from './link.ts'
import { regionsToAsk } from './silence.ts'

/**
 * A target has been silent for a while in one region: asks the monitor's other regions for a check at once, long before
 * the first attempt fails (decision 192). A hint, safe to lose.
 */
export function askOtherRegions(desk: Desk, link: Link, silent: Silent): void {
  for (const region of regionsToAsk(desk.book, link, silent, monotonicMs())) {
    const hint: RunHint = {
      runId: newId(),
      monitorId: silent.monitorId,
      trigger: Trigger.SECOND_OPINION,
      scheduledAtMs: logNowMs(desk.nats),
    }
    desk.nats.connection.publish(runHintSubject(region), JSON.stringify(hint))
  }
}
