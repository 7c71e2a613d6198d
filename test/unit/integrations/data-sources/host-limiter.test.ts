import t from 'tap'
import {
  createHostLimiter,
  isQuickFetch,
} from '../../../../control-plane/integrations/data-sources/fetching/host-limiter.ts'

const buildSource = (id: number, host = 'a.example', projectId = 'p') => ({
  id,
  projectId,
  url: `https://${host}/${id}`,
})
const listIds = (sources: { id: number }[]) => sources.map(({ id }) => id)
const QUICK = isQuickFetch(100)
const SLOW = isQuickFetch(30_000)

function crowd(count: number) {
  const hosts = createHostLimiter<ReturnType<typeof buildSource>>()
  const turns = Array.from({ length: count }, (_, id) => hosts.enter(buildSource(id), id))
  return { hosts, turns }
}

t.test('A host has eight fetches in flight, others wait in order, and more are deferred', async t => {
  const { hosts, turns } = crowd(60)
  t.same(
    ['now', 'wait', 'full'].map(turn => turns.filter(result => result === turn).length),
    [8, 48, 4],
  )
  t.equal(hosts.waiting(), 48)
  t.same(listIds(hosts.leave(buildSource(0), QUICK).next), [8])
  t.same(listIds(hosts.leave(buildSource(1), QUICK).next), [9])
})

t.test('Another host does not wait', async t => {
  const { hosts } = crowd(60)
  t.equal(hosts.enter(buildSource(100, 'b.example'), 0), 'now')
  t.equal(hosts.enter(buildSource(100, 'a.example:8443'), 0), 'now', 'another port is another server')
})

t.test('Sources behind a slow host, and those that waited too long, are deferred', async t => {
  const { hosts } = crowd(12)
  t.same(listIds(hosts.removeWaiting(10)), [8, 9])
  t.same(hosts.leave(buildSource(0), SLOW), { next: [], back: [10, 11].map(id => buildSource(id)) })
  t.equal(hosts.waiting(), 0)
})

t.test('A project with many hosts leaves capacity for others, and gets it back when its fetches end', async t => {
  const hosts = createHostLimiter<ReturnType<typeof buildSource>>()
  const many = Array.from({ length: 65 }, (_, id) => buildSource(id, `h${id % 20}.example`))
  const turns = many.map(source => hosts.enter(source, 0))
  t.same([turns.slice(0, 64).includes('full'), turns[64]], [false, 'full'])
  t.equal(hosts.enter(buildSource(0, 'b.example', 'other'), 0), 'now')
  for (const source of many.slice(0, 20)) hosts.leave(source, QUICK)
  t.same(hosts.removeWaiting(1), [])
  for (const source of many.slice(0, 20)) t.not(hosts.enter(source, 0), 'full')
  t.equal(hosts.enter(many[64]!, 0), 'full')
})

t.test('A host without fetches has its full capacity again', async t => {
  const { hosts } = crowd(8)
  for (let id = 0; id < 8; id++) hosts.leave(buildSource(id), QUICK)
  t.same(
    Array.from({ length: 9 }, (_, id) => hosts.enter(buildSource(id), 0)),
    [...Array(8).fill('now'), 'wait'],
  )
})
