import type { Silent } from '../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, WITNESS_SUBJECT, type WitnessHint, witnessSubject } from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { isId, newId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import type { Link } from './link.ts'
import { addRun } from './outbox.ts'
import { ownerOf } from './plan.ts'
import { takeInHand, type WitnessedRun } from './runs-in-hand.ts'
import { witnessFor } from './witness.ts'

/**
 * Has a probe of another region check a monitor once, to confirm failures that its own region doubts (decision 197). Every
 * process comes to the same probe; the one that has its link passes the check on.
 */
export function forwardWitness(desk: Desk, data: unknown): void {
  const hint = readWitnessHint(data)
  const witness = hint && witnessFor(desk.book, hint)
  const link = desk.links.get(witness?.probeId ?? '')
  if (!hint || !witness || !link) return
  const { runId, monitorId, configVersion, scheduledAtMs } = hint
  if (!addRun(link.outbox, { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec: witness.spec })) {
    desk.meters.lost.inc({ what: 'witness' })
    return
  }
  takeInHand(desk.runs, runId, link, monotonicMs(), { monitorId, configVersion, scheduledAtMs })
  pump(desk, link)
}

/**
 * A probe that doubts its failures found a target silent: where no other region of the monitor is asked, a witness is, long
 * before the first attempt fails. A hint, safe to lose.
 */
export function askWitnessOfSilent(desk: Desk, { probeId, region }: Link, silent: Silent): void {
  const { monitorId, configVersion, doubted } = silent
  if (!doubted || desk.book.roster.entries.get(monitorId)?.regions.length !== 1) return
  if (ownerOf(planOf(desk.book, region), monitorId) !== probeId) return
  const hint: WitnessHint = { runId: newId(), monitorId, configVersion, scheduledAtMs: logNowMs(desk.nats) }
  desk.nats.connection.publish(WITNESS_SUBJECT, JSON.stringify(hint))
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
