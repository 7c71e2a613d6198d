import type { WitnessHint } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import { giveToWitness } from './witness.ts'

/**
 * Has a probe of another region check a monitor once, to confirm failures that its own region doubts (decision 197). Every
 * process comes to the same probe; the one that has its link passes the check on.
 */
export function forwardWitness(desk: Desk, data: unknown): void {
  const hint = readWitnessHint(data)
  const link = hint && giveToWitness(desk, hint, monotonicMs())
  if (link === 'busy') desk.meters.lost.inc({ what: 'witness' })
  else if (link) pump(desk, link)
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
