import type { WitnessHint } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId, newId } from '../platform/ids.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import { giveToWitnesses } from './witness.ts'

/**
 * Has a probe of each other region check a monitor once, to confirm failures that its own region doubts (decision 197). Every
 * process comes to the same probes; each passes the check on to those that are linked to it.
 */
export function forwardWitness(desk: Desk, data: unknown): void {
  const hint = readWitnessHint(data)
  if (!hint) return
  const { given, busy } = giveToWitnesses(desk, hint, monotonicMs(), newId)
  desk.meters.lost.inc({ what: 'witness' }, busy)
  for (const link of given) pump(desk, link)
}

function readWitnessHint(data: unknown): WitnessHint | null {
  const hint = data as Partial<WitnessHint> | null
  const isHint =
    isId(hint?.runId ?? '') &&
    typeof hint?.monitorId === 'string' &&
    Number.isInteger(hint.configVersion) &&
    Number.isInteger(hint.scheduledAtMs)
  return isHint ? (hint as WitnessHint) : null
}
