import t from 'tap'
import {
  applyProbes as applyInSteps,
  createRegionPlan,
  findOwner,
  getOwnedMonitors,
  getRequiredCapability,
  isPlanned,
  type LiveProbe,
  MAX_MONITORS_PER_STEP,
  pickProbe,
  placeMonitor,
  removeMonitor,
} from '../../../../control-plane/monitoring/fleet/assignments/region-plan.ts'

const monitors = Array.from({ length: 3_000 }, (_, i) => `0190a0a0-0000-7000-8000-${String(i).padStart(12, '0')}`)
const getType = (id: string) => (monitors.indexOf(id) % 3 === 0 ? 'dns' : 'http')
const named = (name: string, capabilities = ['http', 'dns']): LiveProbe => ({
  id: `0190b0b0-0000-7000-8000-00000000000${name}`,
  capabilities,
})
const probes = ['a', 'b', 'c', 'd'].map(name => named(name))

/** Runs all steps. */
const changeProbes = (...args: Parameters<typeof applyInSteps>) => [...applyInSteps(...args)].flat()

const planned = (live: LiveProbe[]) => {
  const plan = createRegionPlan()
  changeProbes(plan, 1, live)
  for (const id of monitors) placeMonitor(plan, id, getType(id))
  return plan
}
const ownersIn = (plan: ReturnType<typeof planned>) => monitors.map(id => findOwner(plan, id))

t.test('Every probe gets about the same share, in any order of probes', async t => {
  const plan = planned(probes)
  for (const { id } of probes) {
    const { size } = getOwnedMonitors(plan, id)
    t.ok(size > 600 && size < 900, `${size} of 3000`)
  }
  t.same(ownersIn(plan), ownersIn(planned(probes.toReversed())))
  t.ok(ownersIn(planned([])).every(owner => owner === null))
})

t.test('A probe that joins or leaves moves only its own monitors', async t => {
  const plan = planned(probes.slice(0, 3))
  const joined = changeProbes(plan, 2, probes)
  t.ok(joined.every(move => move.to === probes[3]!.id))
  t.equal(joined.length, getOwnedMonitors(plan, probes[3]!.id).size)

  const theirs = new Set(getOwnedMonitors(plan, probes[0]!.id))
  const left = changeProbes(plan, 3, probes.slice(1))
  t.same(new Set(left.map(move => move.monitorId)), theirs)
  t.ok(left.every(move => move.from === probes[0]!.id))
})

t.test(
  'A probe never gets a monitor that it cannot check, and an upgrade moves only monitors of new types',
  async t => {
    const old = named('a', ['http'])
    const plan = planned([old, probes[1]!])
    t.ok([...getOwnedMonitors(plan, old.id)].every(id => getType(id) === 'http'))
    t.ok(getOwnedMonitors(plan, old.id).size > 600, 'it keeps what it can check')

    const upgraded = changeProbes(plan, 2, [probes[0]!, probes[1]!])
    t.ok(upgraded.length > 300)
    t.ok(upgraded.every(move => move.to === old.id && getType(move.monitorId) === 'dns'))

    changeProbes(plan, 3, [old])
    t.ok(monitors.every(id => findOwner(plan, id) === (getType(id) === 'http' ? old.id : null)))
    t.same(
      [...plan.unassigned].sort(),
      monitors.filter(id => getType(id) === 'dns'),
    )
    changeProbes(plan, 4, [old, probes[2]!])
    t.equal(plan.unassigned.size, 0)
  },
)

t.test('A plan that changed step by step equals one that was built directly', async t => {
  const upgrades = [named('a', ['http']), named('a', []), named('a')]
  const steps = [[0], [0, 1], [], [2], [0, 1, 2, 3], [1, 3], [1, 2]].map(step => step.map(i => probes[i]!))
  const plan = planned([])
  for (const [i, step] of [...steps, ...upgrades.map(a => [a, probes[1]!])].entries()) {
    changeProbes(plan, i + 2, step)
    t.same(ownersIn(plan), ownersIn(planned(step)))
    for (const { id } of probes) {
      t.same(
        [...getOwnedMonitors(plan, id)].sort(),
        monitors.filter(monitor => findOwner(plan, monitor) === id),
      )
    }
    t.same(
      [...plan.unassigned].sort(),
      monitors.filter(monitor => findOwner(plan, monitor) === null),
    )
  }
})

t.test('Another probe that can check a monitor is selected if there is one', async t => {
  const plan = planned([named('a'), named('b', ['http']), named('c', ['http'])])
  const [id] = monitors
  const owner = findOwner(plan, id!)!
  const second = pickProbe(plan, id!, 'http', owner)
  t.ok(second !== null && second !== owner)
  t.equal(pickProbe(plan, id!, 'dns', named('a').id), null)
  t.equal(pickProbe(plan, id!, 'dns'), named('a').id)
})

t.test('A removed monitor has no owner', async t => {
  const plan = planned(probes)
  const [id] = monitors
  const owner = findOwner(plan, id!)!
  t.equal(removeMonitor(plan, id!), owner)
  t.notOk(getOwnedMonitors(plan, owner).has(id!))
  t.equal(removeMonitor(plan, id!), null)
})

t.test('A probe is planned while its capabilities are unchanged', async t => {
  const plan = planned([named('a'), named('b', ['http'])])
  t.ok(isPlanned(plan, named('a', ['dns', 'http'])))
  t.notOk(isPlanned(plan, named('a', ['http'])), 'it lost a capability')
  t.notOk(isPlanned(plan, named('b')), 'it has a new capability')
  t.notOk(isPlanned(plan, named('c')), 'it is not live')
})

t.test('IPv6 addresses need a probe with IPv6, names do not', async t => {
  const rows: [type: string, url: string, need: string][] = [
    ['http', 'https://shop.example/[a]?b=::1', 'http'],
    ['http', 'https://[2001:db8::1]:8443/x', 'http+ipv6'],
    ['http', 'http://192.0.2.1:80/', 'http'],
    ['tcp', '[2001:db8::1]:25', 'tcp+ipv6'],
    ['tcp', 'cafe:25', 'tcp'],
    ['ping', '2001:db8::1', 'ping+ipv6'],
    ['ping', 'cafe', 'ping'],
    ['dns', 'dns://[2001:db8::1]/shop.example', 'dns+ipv6'],
    ['dns', 'dns://192.0.2.1/shop.example', 'dns'],
  ]
  for (const [type, url, need] of rows) t.equal(getRequiredCapability({ type, url }), need, url)
  t.equal(getRequiredCapability(null), '')
})

t.test('A probe with IPv6 is preferred for IPv6 addresses; without one another probe is used', async t => {
  const [a, b] = [named('a'), named('b')]
  const plan = createRegionPlan()
  changeProbes(plan, 1, [a, b])
  for (const id of monitors.slice(0, 100)) placeMonitor(plan, id, 'http+ipv6')
  for (const id of monitors.slice(100, 200)) placeMonitor(plan, id, 'http')
  t.ok(getOwnedMonitors(plan, a.id).size > 60 && getOwnedMonitors(plan, b.id).size > 60)

  const moves = changeProbes(plan, 2, [a, named('b', ['http', 'dns', 'ipv6'])])
  t.ok(moves.length > 20 && moves.every(({ to, monitorId }) => to === b.id && monitors.indexOf(monitorId) < 100))
  t.ok(monitors.slice(0, 100).every(id => findOwner(plan, id) === b.id))
  t.equal(pickProbe(plan, monitors[0]!, 'http+ipv6', b.id), a.id, 'a second opinion is better than none')
  changeProbes(plan, 3, [a])
  t.ok(monitors.slice(0, 200).every(id => findOwner(plan, id) === a.id))
})

t.test('A change of the probes is applied in short steps, and monitors may change between them', async t => {
  const plan = planned(probes.slice(0, 2))
  const added = Array.from({ length: 500 }, (_, i) => `0190c0c0-0000-7000-8000-${String(i).padStart(12, '0')}`)
  const steps = applyInSteps(plan, 2, probes)
  const first = steps.next().value as { monitorId: string }[]
  t.ok(first.length > 0 && first.length <= MAX_MONITORS_PER_STEP)
  t.equal(plan.epoch, 1, 'the epoch changes after all monitors were processed')
  for (const id of added) placeMonitor(plan, id, 'http')
  for (const id of monitors.slice(0, 100)) removeMonitor(plan, id)
  for (const moves of steps) t.ok(moves.length <= MAX_MONITORS_PER_STEP)
  t.equal(plan.epoch, 2)

  const expected = planned(probes)
  for (const id of added) placeMonitor(expected, id, 'http')
  for (const id of monitors.slice(0, 100)) removeMonitor(expected, id)
  for (const id of [...monitors, ...added]) {
    if (findOwner(plan, id) !== findOwner(expected, id)) t.fail(`${id} has another owner`)
  }
  for (const { id } of probes)
    t.same([...getOwnedMonitors(plan, id)].sort(), [...getOwnedMonitors(expected, id)].sort())
})
