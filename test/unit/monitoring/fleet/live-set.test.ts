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
  ['the first probe of a region is live at once', [], [probe('a', { isNew: true })], ['a']],
  ['a new probe joins the others at once', ['a'], [probe('a'), probe('b', { isNew: true })], ['a', 'b']],
  ['one that came back waits', ['a'], [probe('a'), probe('b', { steadyMs: 59_999 })], ['a']],
  ['until it has been steady for 60 s', ['a'], [probe('a'), probe('b', { steadyMs: 60_000 })], ['a', 'b']],
  ['one that came back to an empty region does not wait', [], [probe('b'), probe('c')], ['b', 'c']],
  ['the last one dying lets those in that wait', ['a'], [probe('a', { silentMs: 10_001 }), probe('b')], ['b']],
  ['a short silence costs nothing', ['a'], [probe('a', { silentMs: 10_000, isConnected: false })], ['a']],
  ['a silence over 10 s is death', ['a', 'b'], [probe('a', { silentMs: 10_001 }), probe('b')], ['b']],
  ['a draining probe leaves', ['a', 'b'], [probe('a', { isDraining: true }), probe('b')], ['b']],
  ['the only one too', ['a'], [probe('a', { isDraining: true })], []],
  ['a probe with a revoked token leaves', ['a', 'b'], [probe('a', { isRevoked: true }), probe('b')], ['b']],
  ['a probe that is not connected does not join', [], [probe('a', { isNew: true, isConnected: false })], []],
  ['a drained probe leaves', ['a', 'b'], [probe('a', { isDrained: true }), probe('b')], ['b']],
  ['not when nobody else is there', ['a'], [probe('a', { isDrained: true })], ['a']],
  [
    'nor when it alone can check a type',
    ['a', 'b'],
    [probe('a', { isDrained: true, capabilities: ['http', 'ping'] }), probe('b')],
    ['a', 'b'],
  ],
  [
    'a browser is no reason to keep it',
    ['a', 'b'],
    [probe('a', { isDrained: true, capabilities: ['http', 'screenshot'] }), probe('b')],
    ['b'],
  ],
  [
    'it comes back when the last of the others dies',
    ['b'],
    [probe('a', { isDrained: true }), probe('b', { silentMs: 10_001 })],
    ['a'],
  ],
  ['one whose results do not arrive leaves', ['a', 'b'], [probe('a', { natsAwayMs: 10_001 }), probe('b')], ['b']],
  ['one that reaches no target leaves', ['a', 'b'], [probe('a', { offlineMs: 10_001 }), probe('b')], ['b']],
  [
    'not while the other one cannot deliver',
    ['a', 'b'],
    [probe('a', { offlineMs: 20_000 }), probe('b', { natsAwayMs: 1 })],
    ['a', 'b'],
  ],
  ['not after a moment', ['a', 'b'], [probe('a', { natsAwayMs: 10_000 }), probe('b')], ['a', 'b']],
  [
    'not when no results of the others arrive either',
    ['a', 'b'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { natsAwayMs: 1 })],
    ['a', 'b'],
  ],
  [
    'not when the other one is dead',
    ['a', 'b'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { silentMs: 10_001 })],
    ['a'],
  ],
  ['not when it is the only one', ['a'], [probe('a', { natsAwayMs: 20_000 })], ['a']],
  [
    'another one that waits takes its work over at once',
    ['a'],
    [probe('a', { natsAwayMs: 20_000 }), probe('b', { steadyMs: 1 })],
    ['b'],
  ],
  ['it comes back when its results arrive', ['b'], [probe('a', { steadyMs: 90_000 }), probe('b')], ['a', 'b']],
  ['a probe that is gone from the table leaves', ['a', 'b'], [probe('b')], ['b']],
]

t.test('who is live', async t => {
  for (const [title, current, probes, next] of rows) t.same(computeLiveSet(current, probes, timing, true), next, title)
})

t.test('nobody is buried while it cannot be told who is dead', async t => {
  const silent = [probe('a', { silentMs: 3_600_000 }), probe('b', { silentMs: 20_000, isConnected: false })]
  t.same(computeLiveSet(['a', 'b'], silent, timing, false), ['a', 'b'])
  t.same(computeLiveSet(['a'], [probe('a', { isDraining: true })], timing, false), [], 'a goodbye counts all the same')
})

t.test('sets are the same by their members', async t => {
  t.ok(isSameSet(['a', 'b'], ['a', 'b']))
  t.notOk(isSameSet(['a'], ['a', 'b']))
  t.notOk(isSameSet(['a'], ['b']))
})
