import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { runNow } from '../../monitoring/fleet/on-demand/actions.ts'
import { isCheckedByProbes } from '../../monitoring/monitors/settings/configuration-issues.ts'
import { listMonitorsByIds } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import { listAncestors, markParentsChecked } from './store.ts'

type Tools = { db: Db; nats: Nats }

/**
 * Checks the ancestors of monitors that have just gone down, each once, without waiting for their next slot. If none of
 * a monitor's ancestors fails, its silence is released for review. If one fails, the silence waits for its verdict.
 * `monitorIds`: as claimed by `claimParentChecks`.
 */
export async function checkParents(tools: Tools, monitorIds: string[]): Promise<void> {
  const ancestors = (await listAncestors(tools.db, monitorIds)).filter(({ isAskable }) => isAskable)
  const parentsOf = (id: string) =>
    ancestors.filter(({ monitorId }) => monitorId === id).map(({ ancestorId }) => ancestorId)
  const parents = await listMonitorsByIds(tools.db, [...new Set(ancestors.map(({ ancestorId }) => ancestorId))])
  const isFailing = new Map(parents.filter(isCheckedByProbes).map(parent => [parent.id, fails(tools, parent)]))
  const families = new Map<string, { children: string[]; parentIds: string[] }>()
  for (const id of monitorIds) {
    const parentIds = parentsOf(id).sort()
    const family = families.get(parentIds.join()) ?? { children: [], parentIds }
    family.children.push(id)
    families.set(parentIds.join(), family)
  }
  const done = [...families.values()].map(async ({ children, parentIds }) => {
    const answers = await Promise.all(parentIds.map(id => isFailing.get(id) ?? false))
    if (!answers.includes(true)) await markParentsChecked(tools.db, children, now())
  })
  await Promise.all(done)
}

async function fails(tools: Tools, parent: StoredMonitor): Promise<boolean> {
  return (await runNow(tools, parent)).some(({ status }) => status === 'down')
}
