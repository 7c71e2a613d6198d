import type { Silent } from '../../../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../../../shared/checks/result.ts'
import { type RunHint, runHintSubject } from '../../../../shared/nats/subjects.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeSession } from '../sessions/session.ts'
import { pickRegionsToAsk } from './silent-target.ts'

/**
 * Asks the other regions of a monitor for an immediate check after its target was silent in one region, long before the first
 * attempt fails (docs/design/assignments.md#second-opinions). The request is a hint that may be lost.
 */
export function requestSecondOpinions(context: FleetContext, session: ProbeSession, silent: Silent): void {
  for (const region of pickRegionsToAsk(context.assignments, session, silent, monotonicMs())) {
    const hint: RunHint = {
      runId: newId(),
      monitorId: silent.monitorId,
      trigger: Trigger.SECOND_OPINION,
      scheduledAtMs: jetstreamNowMs(context.nats),
    }
    context.nats.connection.publish(runHintSubject(region), JSON.stringify(hint))
  }
}
