import { runNow } from '../fleet/run-now-actions.ts'
import { isChecked } from '../monitors/configuration.ts'
import { monitorsOfIds } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { now } from '../platform/clock.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { ancestorsOf, noteAnswered } from './store.ts'

type Tools = { db: Db; nats: Nats }

/**
 * Has the parents of monitors that have just gone down checked at once, each once, instead of waiting for their next
 * check: one that fails is about to go down, and then its children are not told of. Where none fails, or nobody can
 * say, the children's outages are told. `monitorIds`: as claimed (claimUnasked).
 */
export async function askParents(tools: Tools, monitorIds: string[]): Promise<void> {
  const kin = (await ancestorsOf(tools.db, monitorIds)).filter(({ isAskable }) => isAskable)
  const parentsOf = (id: string) => kin.filter(({ monitorId }) => monitorId === id).map(({ ancestorId }) => ancestorId)
  const parents = await monitorsOfIds(tools.db, [...new Set(kin.map(({ ancestorId }) => ancestorId))])
  const isFailing = new Map(parents.filter(isChecked).map(parent => [parent.id, fails(tools, parent)]))
  const families = new Map<string, { children: string[]; parentIds: string[] }>()
  for (const id of monitorIds) {
    const parentIds = parentsOf(id).sort()
    const family = families.get(parentIds.join()) ?? { children: [], parentIds }
    family.children.push(id)
    families.set(parentIds.join(), family)
  }
  const told = [...families.values()].map(async ({ children, parentIds }) => {
    const answers = await Promise.all(parentIds.map(id => isFailing.get(id) ?? false))
    if (!answers.includes(true)) await noteAnswered(tools.db, children, now())
  })
  await Promise.all(told)
}

async function fails(tools: Tools, parent: StoredMonitor): Promise<boolean> {
  return (await runNow(tools, parent)).some(({ status }) => status === 'down')
}
