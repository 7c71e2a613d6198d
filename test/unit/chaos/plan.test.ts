import t from 'tap'
import { CHAOS_FAULT_KINDS, countHealthyTargets, createChaosPlan, listAffectedParts } from '../../chaos/plan.ts'
import { LONG, SHORT } from '../../chaos/scales.ts'

const long = { ...LONG, hasDisks: true }
const short = { ...SHORT, hasDisks: false }

t.test('the same seed gives the same plan, another seed another', async t => {
  t.same(createChaosPlan(7, long), createChaosPlan(7, long))
  t.notSame(createChaosPlan(7, long), createChaosPlan(8, long))
})

t.test('a long run has as many faults as were asked for, of every kind', async t => {
  for (const seed of [1, 2, 3]) {
    const { faults } = createChaosPlan(seed, long)
    t.equal(faults.length, long.faults)
    t.same(new Set(faults.map(({ kind }) => kind)), new Set(CHAOS_FAULT_KINDS))
  }
})

t.test('no part of it is broken twice at once', async t => {
  // 742114 once held a link that a full disk had cut, and it stayed cut
  for (const [seed, scale] of [
    [4, long],
    [742_114, { ...SHORT, hasDisks: true }],
  ] as const) {
    const { faults } = createChaosPlan(seed, scale)
    for (const [i, fault] of faults.entries()) {
      const things = listAffectedParts(fault.kind, fault.what)
      const overlapping = faults
        .slice(0, i)
        .filter(({ kind, what }) => listAffectedParts(kind, what).some(thing => things.includes(thing)))
        .filter(({ atMs, lastsMs }) => atMs + lastsMs > fault.atMs)
      t.same(overlapping, [])
    }
  }
})

t.test('the faults of a short run take half a minute', async t => {
  const { faults, outages, lastsMs } = createChaosPlan(5, short)
  t.equal(lastsMs, 30_000)
  t.notOk(
    faults.some(({ kind }) => kind === 'full disk'),
    'where nothing can be mounted no disk is full',
  )
  for (const { kind, atMs, lastsMs } of faults) {
    t.ok(atMs + lastsMs < 35_000)
    t.ok(lastsMs <= (kind === 'two owners' ? 9_000 : short.longestMs), `${kind} lasts ${lastsMs} ms`)
  }
  t.ok(
    outages.every(({ toMs }) => toMs === null),
    'what breaks stays so until it is told',
  )
})

t.test('a third of the targets never breaks', async t => {
  const broken = createChaosPlan(6, long).outages.map(({ monitor }) => monitor)
  t.ok(broken.length > long.monitors / 2)
  t.ok(Math.min(...broken) >= countHealthyTargets(long.monitors))
})
