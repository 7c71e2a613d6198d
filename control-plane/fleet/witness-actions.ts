import type { WitnessHint } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId, newId } from '../platform/ids.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import type { Link } from './link.ts'
import { addRun } from './outbox.ts'
import { takeInHand, type WitnessedRun, witnessedBy } from './runs-in-hand.ts'
import { mayAskWitnesses, type Witness, witnessesFor } from './witness.ts'

/** A probe has its own monitors to check: it is the witness of at most so many checks at once. */
const WITNESSED_AT_ONCE = 50

/**
 * Has a probe of each other region check a monitor once, to confirm failures that its own region doubts (decision 197). Every
 * process comes to the same probes; each passes the check on to those that are linked to it.
 */
export function forwardWitness(desk: Desk, data: unknown): void {
  const hint = readWitnessHint(data)
  const witnesses = hint ? witnessesFor(desk.book, hint) : []
  if (!hint || witnesses.length === 0 || !mayAskWitnesses(desk.book, hint, monotonicMs())) return
  for (const witness of witnesses) askWitness(desk, hint, witness)
}

function askWitness(desk: Desk, { monitorId, configVersion, scheduledAtMs }: WitnessHint, witness: Witness): void {
  const { probeId, spec, tenant } = witness
  const link = desk.links.get(probeId)
  if (!link) return
  // several of the probes may be linked to this process
  const runId = newId()
  const hasRoom = witnessedBy(desk.runs, link) < WITNESSED_AT_ONCE
  if (!hasRoom || !addRun(link.outbox, { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec, tenant })) {
    desk.meters.lost.inc({ what: 'witness' })
    return
  }
  takeInHand(desk.runs, runId, link, monotonicMs(), { monitorId, configVersion, scheduledAtMs })
  pump(desk, link)
}

/**
 * What a witness saw goes to the verdict on a subject that no probe may publish on, so that no probe can pretend to be a
 * witness. Of the monitor and the time of the check counts what was asked for.
 */
export function publishWitnessed(desk: Desk, link: Link, runId: string, run: WitnessedRun, result: Result): void {
  if (isRunRefusal(result)) return
  const { monitorId } = run
  const { epoch } = planOf(desk.book, link.region)
  const witnessed = { ...result, ...run, epoch, trigger: Trigger.WITNESS }
  const batch = { probeId: link.probeId, region: link.region, results: [], witnessed }
  desk.nats.js
    .publish(witnessSubject(partitionOf(monitorId)), ResultBatch.encode(batch).finish(), {
      msgID: `${runId}.${link.probeId}`,
    })
    .catch(err => {
      desk.meters.lost.inc({ what: 'witness' })
      desk.log.warn({ err, region: link.region, monitorId }, 'what a witness saw was lost')
    })
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
