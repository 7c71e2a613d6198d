import t from 'tap'
import {
  createHistoryBuffer,
  MAX_BUFFERED_CHILDREN,
} from '../../../../control-plane/integrations/data-sources/children/history-buffer.ts'
import type { SourceFetch } from '../../../../control-plane/integrations/data-sources/fetching/fetch-result.ts'

const CHILDREN = 200
const withChildren = { children: Array(CHILDREN).fill({}), keys: CHILDREN } as SourceFetch['result']
const failed: SourceFetch['result'] = { failure: { code: 'timeout', message: 'no answer', isOurFault: false } }
const buildFetch = (result: SourceFetch['result']) => ({ result }) as SourceFetch

t.test('The history waits for at most 200,000 children in all, and the oldest fetches are dropped', async t => {
  const buffer = createHistoryBuffer()
  const fetches = Array.from({ length: MAX_BUFFERED_CHILDREN / CHILDREN + 3 }, () => buildFetch(withChildren))
  const dropped = fetches.map(fetch => buffer.add(fetch))
  t.equal(
    dropped.reduce((sum, count) => sum + count, 0),
    3,
  )
  t.equal(buffer.size() * CHILDREN, MAX_BUFFERED_CHILDREN)
  t.equal(buffer.listOldest(1)[0], fetches[3])
})

t.test('A fetch that was sent makes room for another one', async t => {
  const buffer = createHistoryBuffer()
  for (let i = 0; i < MAX_BUFFERED_CHILDREN / CHILDREN; i++) buffer.add(buildFetch(withChildren))
  const sent = buffer.listOldest(2)
  buffer.remove(sent)
  t.equal(buffer.add(buildFetch(withChildren)), 0)
  t.equal(buffer.add(buildFetch(withChildren)), 0)
  t.equal(buffer.add(buildFetch(withChildren)), 1)
  t.notOk(buffer.listOldest(buffer.size()).some(fetch => sent.includes(fetch)))
})

t.test('The history waits for at most 10,000 fetches, also without children', async t => {
  const buffer = createHistoryBuffer()
  const dropped = Array.from({ length: 10_000 }, () => buffer.add(buildFetch(failed)))
  t.ok(dropped.every(count => count === 0))
  t.equal(buffer.add(buildFetch(failed)), 1)
  t.equal(buffer.size(), 10_000)
})
