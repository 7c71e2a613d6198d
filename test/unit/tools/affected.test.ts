import t from 'tap'
import { listMentions, readGraph, type SourceNode, selectAffected } from '../../../tools/test-runner/affected.ts'
import { filesBelow, ROOT } from '../../rules/source.ts'

const node = (imports: string[], mentions: string[] = []): SourceNode => ({ imports, mentions })

const graph = new Map([
  ['test/unit/a.test.ts', node(['shared/a.ts'])],
  ['test/flow/b.test.ts', node(['test/support/b.ts'])],
  ['test/support/b.ts', node([], ['control-plane/main.ts', 'test/fixtures/b'])],
  ['control-plane/main.ts', node(['shared/b.ts', 'shared/a.ts'])],
  ['test/rules/c.test.ts', node([])],
])
const tests = [...graph.keys()].filter(path => path.endsWith('.test.ts'))

t.test('a change runs the tests that reach it by imports, by started programs and by named paths', async t => {
  const rows: [string[], string[]][] = [
    [['shared/a.ts'], tests],
    [['shared/b.ts'], ['test/flow/b.test.ts', 'test/rules/c.test.ts']],
    [['test/fixtures/b/one.json'], ['test/flow/b.test.ts', 'test/rules/c.test.ts']],
    [['test/fixtures/bb/one.json'], ['test/rules/c.test.ts']],
    [['test/unit/a.test.ts'], ['test/unit/a.test.ts', 'test/rules/c.test.ts']],
    [['SECURITY.md'], ['test/rules/c.test.ts']],
    [[], ['test/rules/c.test.ts']],
    [['package-lock.json'], tests],
    [['tools/test-runner/affected.ts'], tests],
  ]
  for (const [changed, expected] of rows) t.same(selectAffected(graph, tests, changed), expected, changed.join())
})

t.test('programs of dist and paths in texts are mentions, words of other texts are not', async t => {
  const source = `start('dist/probe-agent.js'); read('../../docs/metrics.md'); say('docs/ is a folder'); import('./docs.ts')`
  t.same(listMentions(source), ['probe-agent/main.ts', 'docs/metrics.md'])
})

t.test(
  'a change of the verdict reaches its unit tests and the flows of the control plane, and no test of vendors feeds',
  async t => {
    const all = ['test/unit', 'test/flow'].flatMap(filesBelow).filter(path => path.endsWith('.test.ts'))
    const affected = selectAffected(await readGraph(ROOT, all), all, ['control-plane/verdict/core/rules/votes.ts'])
    t.ok(affected.includes('test/flow/verdict.test.ts'))
    t.ok(affected.some(path => path.startsWith('test/unit/verdict/core/')))
    t.notOk(affected.some(path => path.startsWith('test/unit/integrations/vendors/')))
    t.ok(affected.length < all.length / 2)
  },
)
