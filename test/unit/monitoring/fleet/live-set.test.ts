import t from 'tap'
import {
  computeLiveSet,
  isSameSet,
  type ProbeState,
} from '../../../../control-plane/monitoring/fleet/live-sets/live-set.ts'

const timing = { deadAfterMs: 10_000, steadyAfterMs: 60_000 }
const probe = (id: string, other: Partial<ProbeState> = {}): ProbeState => ({
  id,
  region: 'eu-west',
  silentMs: 1_000,
  steadyMs: 5_000,
  isConnected: true,
  isNew: false,
  isDraining: false,
  isRevoked: false,
  isDrained: false,
  capabilities: ['http', 'tcp'],
  natsAwayMs: 0,
  offlineMs: 0,
  ...other,
})

const rows: [title: string, current: string[], probes: ProbeState[], next: string[]][] = [
  ['the first probe of a region is live immediately', [], [probe('a', { isNew: true })], ['a']],
  ['a new probe joins the others immediately', ['a'], [probe('a'), probe('b', { isNew: true })], ['a', 'b']],
  ['a probe that reconnected waits', ['a'], [probe('a'), probe('b', { steadyMs: 59_999 })], ['a']],
  ['it joins after 60 s of connection', ['a'], [probe('a'), probe('b', { steadyMs: 60_000 })], ['a', 'b']],
  ['a probe that reconnects to an empty region does not wait', [], [probe('b'), probe('c')], ['b', 'c']],
  [
    'waiting probes join when the last live one is silent',
    ['a'],
    [probe('a', { silentMs: 10_001 }), probe('b')],
    ['b'],
  ],
  ['a short silence has no effect', ['a'], [probe('a', { silentMs: 10_000, isConnected: false })], ['a']],
  ['a probe that is silent for over 10 s leaves', ['a', 'b'], [probe('a', { silentMs: 10_001 }), probe('b')], ['b']],
  ['a draining probe leaves', ['a', 'b'], [probe('a', { isDraining: true }), probe('b')], ['b']],
  ['the only probe leaves when it is draining', ['a'], [probe('a', { isDraining: true })], []],
  ['a probe with a revoked token leaves', ['a', 'b'], [probe('a', { isRevoked: true }), probe('b')], ['b']],
  ['a probe that is not connected does not join', [], [probe('a', { isNew: true, isConnected: false })], []],
  ['a drained probe leaves', ['a', 'b'], [probe('a', { isDrained: true }), probe('b')], ['b']],
  ['a drained probe stays when it is the only one', ['a'], [probe('a', { isDrained: true })], ['a']],
  [
    'a drained probe stays when it alone can check a type',
    ['a', 'b'],
    [probe('a', { isDrained: true, capabilities: ['http', 'ping'] }), probe('b')],
    ['a', 'b'],
  ],
  [
    'a drained probe leaves although it alone has a browser',
    ['a', 'b'],
    [probe('a', { isDrained: true, capabilities: ['http', 'screenshot'] }), probe('b')],
    ['b'],
  ],
  [
    'a drained probe returns when the last other one is silent',
    ['b'],
    [probe('a', { isDrained: true }), probe('b', { silentMs: 10_001 })],
    ['a'],
  ],
  ['a probe whose results do not arrive leaves', ['a', 'b'], [probe('a', { natsAwayMs: 10_001 }), probe('b')], ['b']],
  ['a probe that reaches no target leaves', ['a', 'b'], [probe('a', { offlineMs: 10_001 }), probe('b')], ['b']],
  [
    'it stays while the other one cannot publish',
    ['a', 'b'],
    [probe('a', { offlineMs: 20_000 }), probe('b', { natsAwayMs: 1 })],
    ['a', 'b'],
  ],
  ['it stays for 10 s', ['a', 'b'], [probe('a', { natsAwayMs: 10_000 }), probe('b')], ['a', 'b']],
  [
    'it stays when no results of the others arrive either',
    ['a', 'b'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { natsAwayMs: 1 })],
    ['a', 'b'],
  ],
  [
    'it stays when the other one is silent',
    ['a', 'b'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { silentMs: 10_001 })],
    ['a'],
  ],
  [
    'it does not return while results of another one do not arrive for less than 10 s',
    ['b'],
    [probe('a', { natsAwayMs: 20_000, steadyMs: 90_000 }), probe('b', { natsAwayMs: 10_000 })],
    ['b'],
  ],
  [
    'it returns when those of no other one have arrived for 10 s',
    ['b'],
    [probe('a', { natsAwayMs: 20_000, steadyMs: 90_000 }), probe('b', { natsAwayMs: 10_001 })],
    ['a', 'b'],
  ],
  ['it stays when it is the only one', ['a'], [probe('a', { natsAwayMs: 20_000 })], ['a']],
  [
    'a waiting probe takes its work immediately',
    ['a'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { steadyMs: 1 })],
    ['b'],
  ],
  ['it returns when its results arrive', ['b'], [probe('a', { steadyMs: 90_000 }), probe('b')], ['a', 'b']],
  ['a probe that is missing in the table leaves', ['a', 'b'], [probe('b')], ['b']],
]

t.test('The live set has the expected probes', async t => {
  for (const [title, current, probes, next] of rows) t.same(computeLiveSet(current, probes, timing, true), next, title)
})

t.test('No silent probe is evicted while canEvict is false', async t => {
  const silent = [probe('a', { silentMs: 3_600_000 }), probe('b', { silentMs: 20_000, isConnected: false })]
  t.same(computeLiveSet(['a', 'b'], silent, timing, false), ['a', 'b'])
  t.same(
    computeLiveSet(['a'], [probe('a', { isDraining: true })], timing, false),
    [],
    'a draining probe leaves nevertheless',
  )
})

t.test('Two sets are equal when they have the same members', async t => {
  t.ok(isSameSet(['a', 'b'], ['a', 'b']))
  t.notOk(isSameSet(['a'], ['a', 'b']))
  t.notOk(isSameSet(['a'], ['b']))
})
