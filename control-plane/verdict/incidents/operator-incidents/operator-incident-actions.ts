import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import type { FleetReport } from './fleet-problems.ts'
import { claimSubjects, releaseSubjects } from './operator-incident-store.ts'
import { openSystemIncident, resolveSystemIncident } from './system-incident-actions.ts'

/**
 * Opens an incident of the operator project for each problem that has none, and resolves those of recovered subjects.
 * In the caller's transaction, which has read the fleet after `lockOperatorIncidents`.
 */
export async function updateOperatorIncidents(
  tx: Tx,
  projectId: string,
  { problems, recoveries }: FleetReport,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const ids = problems.map(({ subject }) => ({ subject, incidentId: newId() }))
  const claimed = await claimSubjects(tx, ids, now)
  for (const [i, problem] of problems.entries()) {
    if (claimed.has(problem.subject))
      await openSystemIncident(tx, projectId, ids[i]!.incidentId, problem, publicUrl, now)
  }
  const messages = new Map(recoveries.map(({ subject, message }) => [subject, message]))
  for (const { subject, incidentId } of await releaseSubjects(tx, [...messages.keys()])) {
    await resolveSystemIncident(tx, projectId, incidentId, messages.get(subject)!, publicUrl, now)
  }
}
