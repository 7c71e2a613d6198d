import t from 'tap'
import { createHostLimiter } from '../../../../control-plane/integrations/data-sources/fetching/host-limiter.ts'

const sourceOf = (id: number, host = 'a.example', projectId = 'p') => ({ id, projectId, url: `https://${host}/${id}` })
const idsOf = (sources: { id: number }[]) => sources.map(({ id }) => id)
const QUICK_MS = 100
const SLOW_MS = 30_000

function crowd(count: number) {
  const hosts = createHostLimiter<ReturnType<typeof sourceOf>>()
  const turns = Array.from({ length: count }, (_, id) => hosts.enter(sourceOf(id), id))
  return { hosts, turns }
}

t.test('Eight are asked at one host at once, others wait in their order, and too many are put off', async t => {
  const { hosts, turns } = crowd(60)
  t.same(
    ['now', 'wait', 'full'].map(turn => turns.filter(one => one === turn).length),
    [8, 48, 4],
  )
  t.equal(hosts.waiting(), 48)
  t.same(idsOf(hosts.leave(sourceOf(0), QUICK_MS).next), [8])
  t.same(idsOf(hosts.leave(sourceOf(1), QUICK_MS).next), [9])
})

t.test('Another host is not kept waiting', async t => {
  const { hosts } = crowd(60)
  t.equal(hosts.enter(sourceOf(100, 'b.example'), 0), 'now')
  t.equal(hosts.enter(sourceOf(100, 'a.example:8443'), 0), 'now', 'another port is another server')
})

t.test('Nothing waits behind a slow host, nor for too long', async t => {
  const { hosts } = crowd(12)
  t.same(idsOf(hosts.removeExpired(10)), [8, 9])
  t.same(hosts.leave(sourceOf(0), SLOW_MS), { next: [], back: [10, 11].map(id => sourceOf(id)) })
  t.equal(hosts.waiting(), 0)
})

t.test('A project of ever new hosts leaves room for others, and has its own again when it is done', async t => {
  const hosts = createHostLimiter<ReturnType<typeof sourceOf>>()
  const many = Array.from({ length: 65 }, (_, id) => sourceOf(id, `h${id % 20}.example`))
  const turns = many.map(source => hosts.enter(source, 0))
  t.same([turns.slice(0, 64).includes('full'), turns[64]], [false, 'full'])
  t.equal(hosts.enter(sourceOf(0, 'b.example', 'other'), 0), 'now')
  for (const source of many.slice(0, 20)) hosts.leave(source, QUICK_MS)
  t.same(hosts.removeExpired(1), [])
  for (const source of many.slice(0, 20)) t.not(hosts.enter(source, 0), 'full')
  t.equal(hosts.enter(many[64]!, 0), 'full')
})

t.test('A host that is done with is forgotten', async t => {
  const { hosts } = crowd(8)
  for (let id = 0; id < 8; id++) hosts.leave(sourceOf(id), QUICK_MS)
  t.same(
    Array.from({ length: 9 }, (_, id) => hosts.enter(sourceOf(id), 0)),
    [...Array(8).fill('now'), 'wait'],
  )
})
