import { holdKnownMonitors } from '../../alerting/routing/rules/rule-actions.ts'
import { isId, newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { conflict, found, validationError } from '../../foundation/web/server/errors.ts'
import type { SuppressionReviewer } from '../maintenance/actions.ts'
import { MAX_ACTIVE_SILENCES, validateSilenceEnd } from './limits.ts'
import type { SilenceCreate } from './schemas.ts'
import {
  countActiveSilences,
  deleteAlertSilence,
  findAlertSilence,
  lockActiveSilences,
  storeAlertSilence,
} from './store.ts'
import type { MonitorSilence, NewSilence } from './types.ts'

/**
 * Creates a silence, which begins now. Throws 400 for an end in the past or too far ahead, 404 for a monitor that the
 * project does not have, and 409 when the project has too many silences in force.
 */
export async function createSilence(
  db: Db,
  projectId: string,
  { monitor_ids, until, reason = null }: SilenceCreate,
  now: Date,
): Promise<MonitorSilence> {
  const endsAt = new Date(until)
  const problems = validateSilenceEnd('until', endsAt, now)
  if (problems.length > 0) throw validationError(problems)
  const monitorIds = [...new Set(monitor_ids.map(id => id.toLowerCase()))].sort()
  const silence = { id: newId(), projectId, reason, endsAt, createdAt: now, monitorIds }
  return await db.transaction(async tx => {
    await holdKnownMonitors(tx, projectId, monitorIds)
    await addSilence(tx, silence, now)
    return found(await findAlertSilence(tx, projectId, silence.id), 'silence')
  })
}

/**
 * Stores a silence, or adds its monitors to the stored one. Throws 409 when the project then has too many silences in force.
 * The caller holds the monitors.
 */
export async function addSilence(tx: Tx, silence: NewSilence, now: Date): Promise<void> {
  await lockActiveSilences(tx, silence.projectId)
  await storeAlertSilence(tx, silence)
  if ((await countActiveSilences(tx, silence.projectId, now)) <= MAX_ACTIVE_SILENCES) return
  throw conflict(`a project can have at most ${MAX_ACTIVE_SILENCES} silences in force; end one of them first`)
}

/** Ends a silence and removes it. What it withheld is reviewed immediately. Throws 404. */
export async function endSilence(
  { db, review }: { db: Db; review: SuppressionReviewer },
  projectId: string,
  id: string,
  now: Date,
): Promise<void> {
  await db.transaction(async tx => {
    const monitorIds = found(isId(id) && (await deleteAlertSilence(tx, projectId, id)), 'silence')
    await review(tx, monitorIds, now)
  })
}
