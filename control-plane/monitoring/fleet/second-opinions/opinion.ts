import type { RunDone } from '../../../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import { computePartition, resultSubject, witnessSubject } from '../../../../shared/nats/subjects.ts'
import { type AssignmentTable, getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import type { WitnessRun } from '../on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../sessions/session.ts'

/** A result that the fleet publishes for the verdict on behalf of a probe. JetStream stores one message for each id. */
export type Opinion = {
  what: 'opinion' | 'witness'
  monitorId: string
  region: string
  subject: string
  data: Uint8Array
  id: string
}

/**
 * Builds the message for the verdict from the answer of a probe. Null: there is nothing to publish, as for the request of a
 * person. It removes the run of a witness.
 */
export function buildOpinion(
  { assignments: table, runs }: Pick<FleetContext, 'assignments' | 'runs'>,
  session: ProbeSession,
  done: RunDone,
): Opinion | null {
  const { runId, result } = done
  const run = runs.get(runId)
  if (!run) return result ? buildSecondOpinion(table, session, runId, result) : null
  if (!run.witnessed) return null
  runs.delete(runId)
  return result && run.session === session ? buildWitnessOpinion(table, session, runId, run.witnessed, result) : null
}

/**
 * Builds the second opinion of a probe that does not own the monitor (docs/design/assignments.md#second-opinions). The probe
 * received only the check, so config version and epoch are added here.
 */
function buildSecondOpinion(
  table: AssignmentTable,
  { probeId, region }: ProbeSession,
  runId: string,
  result: Result,
): Opinion | null {
  const { monitorId, trigger } = result
  if (trigger !== Trigger.SECOND_OPINION || isRunRefusal(result)) return null
  const plan = getRegionPlan(table, region)
  const owner = findOwner(plan, monitorId)
  const entry = table.monitors.entries.get(monitorId)
  if (!owner || owner === probeId || !entry) return null
  const opinion = { ...result, trigger: Trigger.OTHER_PROBE, configVersion: entry.configVersion, epoch: plan.epoch }
  const data = ResultBatch.encode({ probeId, region, results: [opinion] }).finish()
  const subject = resultSubject(computePartition(monitorId), region)
  return { what: 'opinion', monitorId, region, subject, data, id: `${runId}.${probeId}` }
}

/**
 * Builds the result of a witness. It is published on a subject on which no probe may publish, so that no probe can pretend to
 * be a witness. Monitor, version and time of the check are those of the request.
 */
function buildWitnessOpinion(
  table: AssignmentTable,
  { probeId, region }: ProbeSession,
  runId: string,
  run: WitnessRun,
  result: Result,
): Opinion | null {
  if (isRunRefusal(result)) return null
  const { tenant: _, ...requested } = run
  const { monitorId } = requested
  const witnessed = { ...result, ...requested, epoch: getRegionPlan(table, region).epoch, trigger: Trigger.WITNESS }
  const data = ResultBatch.encode({ probeId, region, results: [], witnessed }).finish()
  const subject = witnessSubject(computePartition(monitorId))
  return { what: 'witness', monitorId, region, subject, data, id: `${runId}.${probeId}` }
}
