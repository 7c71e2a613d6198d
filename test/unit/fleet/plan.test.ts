import t from 'tap'
import {
  assignedTo,
  changeProbes,
  createPlan,
  ownedBy,
  ownerOf,
  place,
  remove,
} from '../../../control-plane/fleet/plan.ts'

const monitors = Array.from({ length: 3_000 }, (_, i) => `0190a0a0-0000-7000-8000-${String(i).padStart(12, '0')}`)
const probes = ['a', 'b', 'c', 'd'].map(name => `0190b0b0-0000-7000-8000-00000000000${name}`)

t.test('every probe gets about its share, whatever their order', async t => {
  const counts = new Map<string | null, number>()
  for (const id of monitors) {
    const owner = assignedTo(id, probes)
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  for (const count of counts.values()) t.ok(count > 600 && count < 900, `${count} of 3000`)
  t.equal(counts.size, 4)
  t.ok(monitors.every(id => assignedTo(id, probes) === assignedTo(id, probes.toReversed())))
  t.equal(assignedTo(monitors[0]!, []), null)
})

const planned = (probeIds: string[]) => {
  const plan = createPlan()
  changeProbes(plan, 1, probeIds)
  for (const id of monitors) place(plan, id)
  return plan
}

t.test('a probe that comes or goes moves only its own monitors', async t => {
  const plan = planned(probes.slice(0, 3))
  const joined = changeProbes(plan, 2, probes)
  t.ok(joined.every(move => move.to === probes[3]))
  t.equal(joined.length, ownedBy(plan, probes[3]!).size)

  const theirs = new Set(ownedBy(plan, probes[0]!))
  const left = changeProbes(plan, 3, probes.slice(1))
  t.same(new Set(left.map(move => move.monitorId)), theirs)
  t.ok(left.every(move => move.from === probes[0]))
})

t.test('a plan that changed step by step is the plan made at once', async t => {
  const steps = [[0], [0, 1], [], [2], [0, 1, 2, 3], [1, 3], [1, 2]].map(step => step.map(i => probes[i]!))
  const plan = planned([])
  for (const [i, step] of steps.entries()) {
    changeProbes(plan, i + 2, step)
    const owners = monitors.map(id => ownerOf(plan, id))
    t.same(
      owners,
      monitors.map(id => assignedTo(id, step)),
    )
    for (const id of probes) {
      t.same(
        [...ownedBy(plan, id)].sort(),
        monitors.filter(monitor => ownerOf(plan, monitor) === id),
      )
    }
  }
})

t.test('a monitor that is taken out is nobody’s', async t => {
  const plan = planned(probes)
  const [id] = monitors
  const owner = assignedTo(id!, probes)!
  t.equal(remove(plan, id!), owner)
  t.notOk(ownedBy(plan, owner).has(id!))
  t.equal(remove(plan, id!), null)
})
