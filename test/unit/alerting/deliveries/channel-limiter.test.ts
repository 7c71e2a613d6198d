import t from 'tap'
import { createChannelLimiter } from '../../../../control-plane/alerting/deliveries/queue/channel-limiter.ts'

type Item = { channelId: string; projectId: string; n: number }
const item = (n: number, channelId = 'a'): Item => ({ channelId, projectId: `project of ${channelId}`, n })
const items = (count: number, channelId = 'a') => Array.from({ length: count }, (_, n) => item(n, channelId))
const QUICK = [{ responseCode: 200 }, 20] as const

function enterAll(all: Item[]) {
  const turns = createChannelLimiter<Item>()
  return { turns, sent: all.filter(one => turns.admit(one)).map(one => one.n) }
}

t.test(
  'Eight deliveries of a channel are sent at the same time, the ninth waits, and each channel has its own eight',
  async t => {
    const { turns, sent } = enterAll([...items(10), ...items(10, 'b')])
    t.same(sent, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7])
    t.equal(turns.waiting(), 4)
    t.same([...turns.sizeByProject().values()], [10, 10])
  },
)

t.test('After a fast response the delivery that has waited longest is sent', async t => {
  const { turns } = enterAll(items(10))
  t.same(turns.release(item(0), ...QUICK), { next: [item(8)], back: [] })
  t.same(turns.release(item(0), ...QUICK), { next: [item(9)], back: [] })
  t.same(turns.release(item(0), ...QUICK), { next: [], back: [] })
  t.equal(turns.waiting(), 0)
  t.same([...turns.sizeByProject().values()], [7])
})

const PROBLEMS: [string, { responseCode: number | null } | null, tookMs: number][] = [
  ['a slow response', { responseCode: 200 }, 501],
  ['an error', { responseCode: 500 }, 20],
  ['no response', { responseCode: null }, 10_000],
  ['a mail that found no free connection', null, 20],
]
for (const [what, outcome, tookMs] of PROBLEMS) {
  t.test(`After ${what} all waiting deliveries are returned, and the channel is no longer fast`, async t => {
    const { turns } = enterAll(items(10))
    turns.release(item(0), ...QUICK)
    t.same(turns.fastChannels(), ['a'])
    t.same(turns.release(item(0), outcome, tookMs), { next: [], back: [item(9)] })
    t.same(turns.fastChannels(), [])
    t.equal(turns.waiting(), 0)
    t.same([...turns.sizeByProject().values()], [7])
  })
}

t.test('A process that stops returns its waiting deliveries', async t => {
  const { turns } = enterAll(items(11))
  t.same(turns.drain(), [item(8), item(9), item(10)])
  t.equal(turns.waiting(), 0)
  t.same([...turns.sizeByProject().values()], [8])
})

t.test('The limiter counts the deliveries of each project', async t => {
  const { turns } = enterAll([...items(11), ...items(2, 'b')])
  t.same(Object.fromEntries(turns.sizeByProject()), { 'project of a': 11, 'project of b': 2 })
  turns.release(item(0), { responseCode: 503 }, 20)
  turns.release(item(0, 'b'), ...QUICK)
  t.same(Object.fromEntries(turns.sizeByProject()), { 'project of a': 7, 'project of b': 1 })
  turns.release(item(0, 'b'), ...QUICK)
  t.same(Object.fromEntries(turns.sizeByProject()), { 'project of a': 7 })
})
