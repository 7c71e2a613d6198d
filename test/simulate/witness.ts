import { planOf } from '../../control-plane/fleet/book.ts'
import type { Link } from '../../control-plane/fleet/link.ts'
import { addRun } from '../../control-plane/fleet/outbox.ts'
import { ownerOf } from '../../control-plane/fleet/plan.ts'
import { takeInHand, type WitnessedRun } from '../../control-plane/fleet/runs-in-hand.ts'
import { witnessFor } from '../../control-plane/fleet/witness.ts'
import type { Silent } from '../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, resultSubject, WITNESS_SUBJECT, type WitnessHint } from '../../shared/subjects.ts'
import type { FleetDesk } from './fleet.ts'

const PUBLISHED_AFTER_MS = 2

/** As `forwardWitness` of `fleet/witness-actions.ts`; the choice is the code's. */
export function forwardWitness(desk: FleetDesk, hint: WitnessHint): void {
  const { runId, monitorId, configVersion, scheduledAtMs } = hint
  const witness = witnessFor(desk.book, hint)
  const link = desk.links.get(witness?.probeId ?? '')
  if (!witness || !link) return
  if (!addRun(link.outbox, { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec: witness.spec })) return
  takeInHand(desk.runs, runId, link, desk.host.machine.monotonicMs(), { monitorId, configVersion })
  desk.pump(link)
}

/** A probe in doubt found a target silent. */
export function askWitnessOfSilent({ book, hints }: FleetDesk, { probeId, region }: Link, silent: Silent): void {
  const { monitorId, configVersion, doubted } = silent
  if (!doubted || book.roster.entries.get(monitorId)?.regions.length !== 1) return
  if (ownerOf(planOf(book, region), monitorId) !== probeId) return
  const hint: WitnessHint = { runId: hints.newId(), monitorId, configVersion, scheduledAtMs: hints.logNowMs() }
  hints.publish({ subject: WITNESS_SUBJECT, body: hint })
}

/** What a witness saw, as a result of its own region. */
export function publishWitnessed(
  { book, host, stream }: FleetDesk,
  { probeId, region }: Link,
  runId: string,
  { monitorId, configVersion }: WitnessedRun,
  result: Result,
): void {
  if (isRunRefusal(result)) return
  const { epoch } = planOf(book, region)
  const seen = { ...result, monitorId, configVersion, epoch, trigger: Trigger.WITNESS }
  const bytes = ResultBatch.encode({ probeId, region, results: [seen] }).finish()
  const subject = resultSubject(partitionOf(monitorId), region)
  host.machine.after(PUBLISHED_AFTER_MS, () => stream.store(subject, bytes, `${runId}.${probeId}`))
}
