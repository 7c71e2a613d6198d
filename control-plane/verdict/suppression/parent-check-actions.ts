import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { runNow } from '../../monitoring/fleet/on-demand/actions.ts'
import { isCheckedByProbes } from '../../monitoring/monitors/settings/configuration-issues.ts'
import { listMonitorsByIds } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { isFoundHealthy } from './ancestors.ts'
import { listAncestors, markParentsChecked, type ParentCheck } from './store.ts'

type Tools = { db: Db; nats: Nats }

/**
 * Checks the ancestors of monitors that have just gone down, each once, without waiting for their next slot. If all
 * of a monitor's ancestors answer and none fails, its silence is released for review. If one fails, or no probe could check
 * it, the silence waits until its doubt ends.
 * `checks`: as claimed by `claimParentChecks`.
 */
export async function checkParents(tools: Tools, checks: readonly ParentCheck[]): Promise<void> {
  const monitorIds = checks.map(({ monitorId }) => monitorId)
  const ancestors = (await listAncestors(tools.db, monitorIds, now())).filter(({ isAskable }) => isAskable)
  const listParents = (id: string) =>
    ancestors.filter(({ monitorId }) => monitorId === id).map(({ ancestorId }) => ancestorId)
  const parents = await listMonitorsByIds(tools.db, [...new Set(ancestors.map(({ ancestorId }) => ancestorId))])
  const healthy = new Map(parents.filter(isCheckedByProbes).map(parent => [parent.id, checkParent(tools, parent)]))
  const families = new Map<string, { children: ParentCheck[]; parentIds: string[] }>()
  for (const one of checks) {
    const parentIds = listParents(one.monitorId).sort()
    const family = families.get(parentIds.join()) ?? { children: [], parentIds }
    family.children.push(one)
    families.set(parentIds.join(), family)
  }
  const done = [...families.values()].map(async ({ children, parentIds }) => {
    const answers = await Promise.all(parentIds.map(id => healthy.get(id) ?? true))
    if (!answers.includes(false)) await markParentsChecked(tools.db, children, now())
  })
  await Promise.all(done)
}

/** Returns whether the parent answered and does not fail. */
async function checkParent(tools: Tools, parent: StoredMonitor): Promise<boolean> {
  const results = await runNow(tools, parent)
  return isFoundHealthy(results.map(({ status }) => status))
}
