import { groupBy } from '../../shared/group-by.ts'
import { lockFreeMonitors, projectsOf } from '../monitors/store.ts'
import { now } from '../platform/clock.ts'
import { type Tx, waitAtMost } from '../platform/postgres.ts'
import { type Change, isOneMonitors, judgeLocked } from '../verdict/judge.ts'
import type { ReaderTools } from './actions.ts'

/** What became of changes that are not stored: `deferred` wait for locked rows, as others of `held` projects have to. */
export type Outcome = { discarded: string[]; deferred: Change[]; held: string[] }

/** Of many tenants with locked rows the first one is waited for; the others hardly. */
const LOCK_MS_AFTER_ONE = 20

/** A lock that did not come in time. */
export const isHeld = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** What the rows of one tenant brought about, so that its neighbours can be judged without it. */
export const isOneTenants = (error: unknown): boolean => isHeld(error) || isOneMonitors(error)

/** Judges the changes of monitors whose rows are free, and defers those of others: it waits for no monitor's lock. */
export async function judgeFree(tx: Tx, changes: Change[], { publicUrl }: ReaderTools): Promise<Outcome> {
  if (changes.length === 0) return { discarded: [], deferred: [], held: [] }
  const ids = changes.map(change => change.monitorId)
  const monitors = await lockFreeMonitors(tx, ids)
  const free = new Set(monitors.map(({ id }) => id))
  const missing = ids.filter(id => !free.has(id))
  // those that are there and not free are locked; those that are gone are discarded
  const locked = missing.length === 0 ? new Map() : await projectsOf(tx, missing)
  const ready = changes.filter(({ monitorId }) => !locked.has(monitorId))
  const { discarded } = await judgeLocked(tx, monitors, ready, publicUrl, now())
  return { discarded, deferred: changes.filter(({ monitorId }) => locked.has(monitorId)), held: [] }
}

/**
 * One tenant's rows never stop its neighbours: each project under a savepoint of its own. What waits for a lock there is
 * deferred with all of the project; what is refused is judged monitor by monitor.
 */
export async function judgeApart(tx: Tx, changes: Change[], tools: ReaderTools): Promise<Outcome> {
  const projects = await projectsOf(
    tx,
    changes.map(change => change.monitorId),
  )
  const outcomes: Outcome[] = []
  for (const [project, ours] of groupBy(changes, change => projects.get(change.monitorId) ?? null)) {
    const outcome = await tx
      .transaction(savepoint => judgeFree(savepoint, ours, tools))
      .catch(async error => {
        if (isOneMonitors(error)) return judgeOneByOne(tx, ours, tools)
        if (!isHeld(error)) throw error
        await waitAtMost(tx, LOCK_MS_AFTER_ONE)
        return { discarded: [], deferred: ours, held: project === null ? [] : [project] }
      })
    outcomes.push(outcome)
  }
  return together(outcomes)
}

/** After a refusal: one bad row never stops its neighbours. What is refused alone too is set aside. */
async function judgeOneByOne(tx: Tx, changes: Change[], tools: ReaderTools): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const change of changes.toSorted((a, b) => (a.monitorId < b.monitorId ? -1 : 1))) {
    const { monitorId } = change
    const outcome = await tx
      .transaction(savepoint => judgeFree(savepoint, [change], tools))
      .catch(err => {
        if (isHeld(err)) return { discarded: [], deferred: [change], held: [] }
        if (!isOneMonitors(err)) throw err
        tools.setAside('decision', 'a decision was set aside', { err, monitorId })
        return { discarded: [monitorId], deferred: [], held: [] }
      })
    outcomes.push(outcome)
  }
  return together(outcomes)
}

const together = (outcomes: Outcome[]): Outcome => ({
  discarded: outcomes.flatMap(({ discarded }) => discarded),
  deferred: outcomes.flatMap(({ deferred }) => deferred),
  held: outcomes.flatMap(({ held }) => held),
})
