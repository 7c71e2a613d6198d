import { planOf } from '../../control-plane/fleet/book.ts'
import type { Link } from '../../control-plane/fleet/link.ts'
import { addRun } from '../../control-plane/fleet/outbox.ts'
import { takeInHand, type WitnessedRun, witnessedBy } from '../../control-plane/fleet/runs-in-hand.ts'
import { mayAskWitnesses, type Witness, witnessesFor } from '../../control-plane/fleet/witness.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, type WitnessHint, witnessSubject } from '../../shared/subjects.ts'
import type { FleetDesk } from './fleet.ts'

const PUBLISHED_AFTER_MS = 2
const WITNESSED_AT_ONCE = 50

/** As `forwardWitness` of `fleet/witness-actions.ts`; the choice is the code's. */
export function forwardWitness(desk: FleetDesk, hint: WitnessHint): void {
  const witnesses = witnessesFor(desk.book, hint)
  if (witnesses.length === 0 || !mayAskWitnesses(desk.book, hint, desk.host.machine.monotonicMs())) return
  for (const witness of witnesses) askWitness(desk, hint, witness)
}

function askWitness(desk: FleetDesk, { monitorId, configVersion, scheduledAtMs }: WitnessHint, witness: Witness): void {
  const { probeId, spec, tenant } = witness
  const link = desk.links.get(probeId)
  if (!link || witnessedBy(desk.runs, link) >= WITNESSED_AT_ONCE) return
  const runId = desk.hints.newId()
  if (!addRun(link.outbox, { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec, tenant })) return
  takeInHand(desk.runs, runId, link, desk.host.machine.monotonicMs(), { monitorId, configVersion, scheduledAtMs })
  desk.pump(link)
}

/** What a witness saw, as a result of its own region. */
export function publishWitnessed(
  { book, host, stream }: FleetDesk,
  { probeId, region }: Link,
  runId: string,
  run: WitnessedRun,
  result: Result,
): void {
  if (isRunRefusal(result)) return
  const { epoch } = planOf(book, region)
  const witnessed = { ...result, ...run, epoch, trigger: Trigger.WITNESS }
  const bytes = ResultBatch.encode({ probeId, region, results: [], witnessed }).finish()
  const subject = witnessSubject(partitionOf(run.monitorId))
  host.machine.after(PUBLISHED_AFTER_MS, () => stream.store(subject, bytes, `${runId}.${probeId}`))
}
