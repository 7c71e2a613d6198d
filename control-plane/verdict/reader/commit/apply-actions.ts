import { groupBy } from '../../../../shared/group-by.ts'
import { setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { findProjectIds, lockAvailableMonitors } from '../../../monitoring/monitors/store.ts'
import { applyDecisionsLocked, isMonitorError, type VerdictChange } from '../../core/decision-actions.ts'
import type { ReaderTools } from '../reading-actions.ts'

/** What became of changes that are not stored: `deferred` wait for locked rows, as others of `lockedProjects` projects have to. */
export type ApplyOutcome = { discarded: string[]; deferred: VerdictChange[]; lockedProjects: string[] }

/** Of many tenants with locked rows the first one is waited for; the others hardly. */
const NEXT_LOCK_TIMEOUT_MS = 20

/** A lock that did not come in time. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** What the rows of one tenant brought about, so that its neighbours can be judged without it. */
export const isTenantError = (error: unknown): boolean => isLockTimeout(error) || isMonitorError(error)

/** Judges the changes of monitors whose rows are free, and defers those of others: it waits for no monitor's lock. */
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
  // those that are there and not free are locked; those that are gone are discarded
  const locked = missing.length === 0 ? new Map() : await findProjectIds(tx, missing)
  const ready = changes.filter(({ monitorId }) => !locked.has(monitorId))
  const { discarded } = await applyDecisionsLocked(tx, monitors, ready, publicUrl, now())
  return { discarded, deferred: changes.filter(({ monitorId }) => locked.has(monitorId)), lockedProjects: [] }
}

/**
 * One tenant's rows never stop its neighbours: each project under a savepoint of its own. What waits for a lock there is
 * deferred with all of the project; what is refused is judged monitor by monitor.
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
        if (isMonitorError(error)) return applyOneByOne(tx, own, tools)
        if (!isLockTimeout(error)) throw error
        await setLockTimeout(tx, NEXT_LOCK_TIMEOUT_MS)
        return { discarded: [], deferred: own, lockedProjects: project === null ? [] : [project] }
      })
    outcomes.push(outcome)
  }
  return mergeOutcomes(outcomes)
}

/** After a refusal: one bad row never stops its neighbours. What is refused alone too is set aside. */
async function applyOneByOne(tx: Tx, changes: VerdictChange[], tools: ReaderTools): Promise<ApplyOutcome> {
  const outcomes: ApplyOutcome[] = []
  for (const change of changes.toSorted((a, b) => (a.monitorId < b.monitorId ? -1 : 1))) {
    const { monitorId } = change
    const outcome = await tx
      .transaction(savepoint => applyUnlocked(savepoint, [change], tools))
      .catch(err => {
        if (isLockTimeout(err)) return { discarded: [], deferred: [change], lockedProjects: [] }
        if (!isMonitorError(err)) throw err
        tools.setAside('decision', 'a decision was set aside', { err, monitorId })
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
