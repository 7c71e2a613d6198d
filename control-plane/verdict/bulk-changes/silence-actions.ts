import { newId } from '../../foundation/platform/ids.ts'
import type { Tx } from '../../foundation/platform/postgres/client.ts'
import { addSilence } from '../silences/actions.ts'
import { MAX_SILENCED_MONITORS } from '../silences/limits.ts'
import type { SilenceSettings } from '../silences/schemas.ts'
import { leaveActiveSilences } from '../silences/store.ts'
import { scheduleReview } from '../suppression/store.ts'
import type { MonitorDifference } from './difference.ts'

/**
 * The silences that a request creates, by end and reason, with the number of their monitors. All transactions of the request
 * share them, so that ten thousand monitors get ten silences.
 */
export type NewSilences = Map<string, { id: string; count: number }>

type SilencedItem = { monitorId: string; difference: Pick<MonitorDifference, 'silence'> | null }

/**
 * Removes monitors from their silences, and silences them again where the difference says so. What was withheld is reviewed
 * immediately. The caller has locked the monitors. Throws 409 when the project has too many silences in force.
 */
export async function replaceSilences(
  tx: Tx,
  projectId: string,
  created: NewSilences,
  items: readonly SilencedItem[],
  now: Date,
): Promise<void> {
  const changed = items.flatMap(({ monitorId, difference }) =>
    difference?.silence === undefined ? [] : [{ monitorId, silence: difference.silence }],
  )
  if (changed.length === 0) return
  const ids = changed.map(({ monitorId }) => monitorId)
  await leaveActiveSilences(tx, ids, now)
  const added = new Map<string, { terms: SilenceSettings; monitorIds: string[] }>()
  for (const { monitorId, silence } of changed) {
    if (silence === null) continue
    const id = allocateSilence(created, silence)
    const entry = added.get(id) ?? { terms: silence, monitorIds: [] }
    entry.monitorIds.push(monitorId)
    added.set(id, entry)
  }
  for (const [id, { terms, monitorIds }] of added) {
    const { until, reason = null } = terms
    await addSilence(tx, { id, projectId, reason, endsAt: new Date(until), createdAt: now, monitorIds }, now)
  }
  await scheduleReview(tx, ids, now)
}

/** The id of the silence for one more monitor. A transaction that is repeated counts its monitors twice, which does no harm. */
function allocateSilence(created: NewSilences, terms: SilenceSettings): string {
  const key = JSON.stringify([terms.until, terms.reason])
  const known = created.get(key)
  const entry = known && known.count < MAX_SILENCED_MONITORS ? known : { id: newId(), count: 0 }
  entry.count++
  created.set(key, entry)
  return entry.id
}
