import type { WitnessHint } from '../../../../shared/nats/subjects.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { FleetContext } from '../context.ts'
import { sendPending } from '../sessions/send-actions.ts'
import { queueWitnessRuns } from './witness.ts'

/**
 * Requests one check of a monitor by a probe of each other region, to confirm a failure in doubt
 * (docs/design/assignments.md#witnesses). Every process selects the same probes, and each forwards the check to those that
 * are connected to it.
 */
export function forwardToWitnesses(context: FleetContext, data: unknown): void {
  const hint = parseWitnessHint(data)
  if (!hint) return
  const { given, busy } = queueWitnessRuns(context, hint, monotonicMs(), newId)
  context.metrics.lost.inc({ what: 'witness' }, busy)
  for (const session of given) sendPending(context, session)
}

function parseWitnessHint(data: unknown): WitnessHint | null {
  const hint = data as Partial<WitnessHint> | null
  const isHint =
    isId(hint?.runId ?? '') &&
    typeof hint?.monitorId === 'string' &&
    Number.isInteger(hint.configVersion) &&
    Number.isInteger(hint.scheduledAtMs)
  return isHint ? (hint as WitnessHint) : null
}
