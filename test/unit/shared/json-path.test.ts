import t from 'tap'
import { type PathStep, parsePathSteps } from '../../../shared/json-path.ts'

t.test('Brackets mean the same in the paths of assertions and of data sources', async t => {
  const rows: [string, PathStep[]][] = [
    ['[0]', [0]],
    ['[007]', [7]],
    ["['a.b']", ['a.b']],
    ['["it\'s"]', ["it's"]],
    [String.raw`["a\"b\\c"]`, ['a"b\\c']],
    ["['']", ['']],
    ['["*"]', ['*']],
    ['[0][1].a["b"]', [0, 1, 'a', 'b']],
  ]
  for (const [text, steps] of rows) {
    t.same(parsePathSteps(`$${text}`, 1, 'plain'), { steps, end: text.length + 1 }, text)
    t.same(parsePathSteps(`$${text}`, 1, 'wildcards'), { steps, end: text.length + 1 }, text)
  }
})

t.test('Keys without quotes and wildcards differ, and the parser returns where it stopped', async t => {
  const rows: [text: string, plain: [PathStep[], number], wildcards: [PathStep[], number]][] = [
    ['.a b: c', [['a'], 2], [['a b: c'], 7]],
    ['.größe', [['gr'], 3], [['größe'], 6]],
    ['.$a-b', [['$a-b'], 5], [['$a-b'], 5]],
    ['.1', [[], 0], [['1'], 2]],
    ['.a.*.b', [['a'], 2], [['a', null, 'b'], 6]],
    ['.a[*]', [['a'], 2], [['a', null], 5]],
    ['.a*', [['a'], 2], [['a'], 2]],
    ['..a', [[], 0], [[], 0]],
    ['[0]b', [[0], 3], [[0], 3]],
    ['[-1]', [[], 0], [[], 0]],
    ['[1234567890]', [[], 0], [[], 0]],
  ]
  for (const [text, plain, wildcards] of rows) {
    const relative = ({ steps, end }: { steps: PathStep[]; end: number }) => [steps, end - 1]
    t.same(relative(parsePathSteps(`$${text}`, 1, 'plain')), plain, text)
    t.same(relative(parsePathSteps(`$${text}`, 1, 'wildcards')), wildcards, text)
  }
})

t.test('Only the first key of a path with wildcards has no dot before it', async t => {
  t.same(parsePathSteps('a.b', 0, 'wildcards'), { steps: ['a', 'b'], end: 3 })
  t.same(parsePathSteps('*.b', 0, 'wildcards'), { steps: [null, 'b'], end: 3 })
  t.same(parsePathSteps('.a', 0, 'wildcards'), { steps: [], end: 0 })
  t.same(parsePathSteps('a.b', 0, 'plain'), { steps: [], end: 0 })
})
