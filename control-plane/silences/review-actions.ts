import { tellEvents } from '../alerts/announce-actions.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { graceMsOf } from './patience.ts'
import { review } from './review.ts'
import {
  type Cause,
  type Ground,
  groundsOf,
  lockDueMonitors,
  removeSilences,
  type Silence,
  type SilencedMonitor,
  silencesOf,
  storeCauses,
  storeSilences,
} from './store.ts'
import { toldEvents } from './told-store.ts'
import { type Telling, tellings } from './withheld.ts'

/**
 * Looks at up to `limit` silences that are due: what nothing speaks against any more is told, with its deliveries, in
 * one transaction. Any number of processes may do so. Answers how many it looked at.
 */
export function reviewDue(db: Db, limit: number, now: Date): Promise<number> {
  return db.transaction(async tx => {
    const monitors = await lockDueMonitors(tx, now, limit)
    const ids = monitors.map(({ id }) => id)
    if (ids.length === 0) return 0
    const silences = await silencesOf(tx, ids)
    const groundOf = await groundsOf(tx, ids, now)
    const found = monitors.flatMap(monitor => {
      const silence = silences.get(monitor.id)
      return silence ? [{ ...lookAt(silence, monitor, groundOf(monitor.id), now), before: silence }] : []
    })
    await storeSilences(
      tx,
      found.flatMap(({ waiting }) => waiting ?? []),
    )
    await storeCauses(
      tx,
      found.flatMap(({ cause }) => cause ?? []),
    )
    const over = found.filter(({ waiting }) => waiting === null)
    await removeSilences(
      tx,
      over.map(({ before }) => before.monitorId),
    )
    await tellAll(
      tx,
      over.flatMap(({ before }) => tellings(before.withheld)),
      now,
    )
    return monitors.length
  })
}

/** `waiting` null: what is withheld is to be told. A parent that went down while it was in doubt is the cause. */
function lookAt(
  silence: Silence,
  monitor: SilencedMonitor,
  { reasons, causedBy }: Ground,
  now: Date,
): { waiting: Silence | null; cause: Cause | null } {
  const { withheld, monitorId } = silence
  const isOutage = withheld.began !== null
  const finding =
    tellings(withheld).length === 0
      ? ({ kind: 'tell' } as const)
      : review(silence, reasons, { isOutage, graceMs: graceMsOf(monitor) }, now)
  const isCaused = causedBy !== null && silence.reason === 'doubt' && withheld.began !== null
  const cause = isCaused ? { monitorId, transitionId: withheld.began!.transitionId, causedBy } : null
  return { waiting: finding.kind === 'tell' ? null : { ...silence, ...finding }, cause }
}

async function tellAll(tx: Tx, due: Telling[], now: Date): Promise<void> {
  await tellEvents(tx, await toldEvents(tx, due), now)
}
