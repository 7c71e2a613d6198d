import t from 'tap'
import { createGroupCommit } from '../../../../control-plane/verdict/heartbeats/intake/group-commit.ts'

/** A group commit whose groups end, and whose wait ends, when the test decides. */
function createRig() {
  const groups: { items: string[]; end: (answers: (string | Error)[]) => void; fail: (error: Error) => void }[] = []
  const watches: (() => void)[] = []
  const commit = createGroupCommit(
    (items: string[]) => new Promise<(string | Error)[]>((end, fail) => groups.push({ items, end, fail })),
    {
      size: 3,
      groups: 2,
      waiting: 4,
      full: () => new Error('full'),
      untilStuck: () => new Promise<void>(resolve => watches.push(resolve)),
    },
  )
  return { groups, watches, commit, sent: () => groups.map(({ items }) => items.join('')).join(' ') }
}
const settled = () => new Promise(resolve => setImmediate(resolve))

t.test('items that arrive while a group runs form the next group, and each gets its own answer', async t => {
  const { groups, commit, sent } = createRig()
  const answers = ['a', 'b', 'c', 'd', 'e'].map(item => commit(item))
  t.equal(sent(), 'a')
  groups[0]!.end(['A'])
  await settled()
  t.equal(sent(), 'a bcd', 'as many as a group takes')
  groups[1]!.end(['B', 'C', 'D'])
  await settled()
  groups[2]!.end(['E'])
  t.same(await Promise.all(answers), ['A', 'B', 'C', 'D', 'E'])
})

t.test('an item that fails does not fail its group, and a group that fails does not fail the next one', async t => {
  const { groups, commit } = createRig()
  const first = commit('a')
  const [bad, good] = [commit('b'), commit('c')]
  groups[0]!.fail(new Error('away'))
  await t.rejects(first, { message: 'away' })
  groups[1]!.end([new Error('refused'), 'C'])
  await t.rejects(bad, { message: 'refused' })
  t.equal(await good, 'C')
})

t.test('a stuck group delays the next one only for a short time, and a slow group runs alone', async t => {
  const { groups, watches, commit, sent } = createRig()
  const answers = ['a', 'b'].map(item => commit(item))
  watches[0]!()
  await settled()
  t.equal(sent(), 'a b')
  groups[1]!.end(['B'])
  groups[0]!.end(['A'])
  t.same(await Promise.all(answers), ['A', 'B'])
  await settled()
  const others = ['c', 'd', 'e', 'f', 'g'].map(item => commit(item))
  groups[2]!.end(['C'])
  await settled()
  watches[1]!()
  await settled()
  t.equal(sent(), 'a b c def', 'a group has ended since')
  groups[3]!.end(['D', 'E', 'F'])
  await settled()
  groups[4]!.end(['G'])
  t.same(await Promise.all(others), ['C', 'D', 'E', 'F', 'G'])
})

t.test('an item is refused immediately when too many wait', async t => {
  const { groups, commit } = createRig()
  const answers = ['a', 'b', 'c', 'd', 'e'].map(item => commit(item))
  await t.rejects(commit('f'), { message: 'full' })
  groups[0]!.end(['A'])
  await settled()
  groups[1]!.end(['B', 'C', 'D'])
  await settled()
  groups[2]!.end(['E'])
  await Promise.all(answers)
})
