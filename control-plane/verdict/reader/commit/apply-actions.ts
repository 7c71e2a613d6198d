import { groupBy } from '../../../../shared/group-by.ts'
import { isContentError, isLockTimeout, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { findProjectIds, lockAvailableMonitors } from '../../../monitoring/monitors/store.ts'
import { applyDecisionsLocked, type VerdictChange } from '../../core/decision-actions.ts'
import type { ReaderTools } from '../reading-actions.ts'

/**
 * The changes that were not stored: `deferred` ones wait for locked rows. Later changes of `lockedProjects` have to
 * wait as well.
 */
export type ApplyOutcome = { discarded: string[]; deferred: VerdictChange[]; lockedProjects: string[] }

/** After the first lock timeout of a transaction, other tenants' locks are waited for only this long. */
const NEXT_LOCK_TIMEOUT_MS = 20

/** Applies the changes of monitors whose rows are free and defers the others. Does not wait for locks of monitors. */
export async function applyUnlocked(
  tx: Tx,
  changes: VerdictChange[],
  { publicUrl }: ReaderTools,
): Promise<ApplyOutcome> {
  if (changes.length === 0) return { discarded: [], deferred: [], lockedProjects: [] }
  const ids = changes.map(change => change.monitorId)
  const monitors = await lockAvailableMonitors(tx, ids)
  const free = new Set(monitors.map(({ id }) => id))
  const missing = ids.filter(id => !free.has(id))
  // existing monitors that are not free are locked; deleted ones are discarded
  const locked = missing.length === 0 ? new Map() : await findProjectIds(tx, missing)
  const ready = changes.filter(({ monitorId }) => !locked.has(monitorId))
  const { discarded } = await applyDecisionsLocked(tx, monitors, ready, publicUrl, now())
  return { discarded, deferred: changes.filter(({ monitorId }) => locked.has(monitorId)), lockedProjects: [] }
}

/**
 * Applies each project under its own savepoint, so that the rows of one tenant do not stop the others. After a lock
 * timeout all changes of the project are deferred; after another error its monitors are applied one by one.
 */
export async function applyPerProject(tx: Tx, changes: VerdictChange[], tools: ReaderTools): Promise<ApplyOutcome> {
  const projects = await findProjectIds(
    tx,
    changes.map(change => change.monitorId),
  )
  const outcomes: ApplyOutcome[] = []
  for (const [project, own] of groupBy(changes, change => projects.get(change.monitorId) ?? null)) {
    const outcome = await tx
      .transaction(savepoint => applyUnlocked(savepoint, own, tools))
      .catch(async error => {
        if (isContentError(error)) return applyOneByOne(tx, own, tools)
        if (!isLockTimeout(error)) throw error
        await setLockTimeout(tx, NEXT_LOCK_TIMEOUT_MS)
        return { discarded: [], deferred: own, lockedProjects: project === null ? [] : [project] }
      })
    outcomes.push(outcome)
  }
  return mergeOutcomes(outcomes)
}

/**
 * Applies each change under its own savepoint, so that one invalid row does not stop the others. Sets that one aside.
 */
async function applyOneByOne(tx: Tx, changes: VerdictChange[], tools: ReaderTools): Promise<ApplyOutcome> {
  const outcomes: ApplyOutcome[] = []
  for (const change of changes.toSorted((a, b) => (a.monitorId < b.monitorId ? -1 : 1))) {
    const { monitorId } = change
    const outcome = await tx
      .transaction(savepoint => applyUnlocked(savepoint, [change], tools))
      .catch(err => {
        if (isLockTimeout(err)) return { discarded: [], deferred: [change], lockedProjects: [] }
        if (!isContentError(err)) throw err
        tools.setAside('decision', 'set aside a decision that cannot be stored', { err, monitorId })
        return { discarded: [monitorId], deferred: [], lockedProjects: [] }
      })
    outcomes.push(outcome)
  }
  return mergeOutcomes(outcomes)
}

const mergeOutcomes = (outcomes: ApplyOutcome[]): ApplyOutcome => ({
  discarded: outcomes.flatMap(({ discarded }) => discarded),
  deferred: outcomes.flatMap(({ deferred }) => deferred),
  lockedProjects: outcomes.flatMap(({ lockedProjects }) => lockedProjects),
})
