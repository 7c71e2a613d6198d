import type { RunDone } from '../../../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, type Result, ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import { computePartition, resultSubject, witnessSubject } from '../../../../shared/nats/subjects.ts'
import { type AssignmentTable, getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import type { WitnessRun } from '../on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../sessions/session.ts'

/** What the fleet publishes for the verdict in the name of a probe; JetStream keeps one message of each id. */
export type Opinion = {
  what: 'opinion' | 'witness'
  monitorId: string
  region: string
  subject: string
  data: Uint8Array
  id: string
}

/** The message for the verdict that an answer of a probe gives; null: none. It ends the run of a witness. */
export function buildOpinion(
  { assignments: table, runs }: Pick<FleetContext, 'assignments' | 'runs'>,
  session: ProbeSession,
  done: RunDone,
): Opinion | null {
  const { runId, result } = done
  const run = runs.get(runId)
  if (!run?.witnessed) return result ? buildSecondOpinion(table, session, runId, result) : null
  runs.delete(runId)
  return result && run.session === session ? buildWitnessOpinion(table, session, runId, run.witnessed, result) : null
}

/**
 * The opinion of a probe that does not check the monitor itself: it got only the check and knows neither version
 * nor epoch (decisions 4.5).
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
 * What a witness saw goes to the verdict on a subject that no probe may publish on, so that no probe can pretend to be a
 * witness. Of the monitor and the time of the check counts what was asked for.
 */
function buildWitnessOpinion(
  table: AssignmentTable,
  { probeId, region }: ProbeSession,
  runId: string,
  run: WitnessRun,
  result: Result,
): Opinion | null {
  if (isRunRefusal(result)) return null
  const { tenant: _, ...asked } = run
  const { monitorId } = asked
  const witnessed = { ...result, ...asked, epoch: getRegionPlan(table, region).epoch, trigger: Trigger.WITNESS }
  const data = ResultBatch.encode({ probeId, region, results: [], witnessed }).finish()
  const subject = witnessSubject(computePartition(monitorId))
  return { what: 'witness', monitorId, region, subject, data, id: `${runId}.${probeId}` }
}
