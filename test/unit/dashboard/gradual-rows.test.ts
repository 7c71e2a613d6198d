import t from 'tap'
import { takeRows } from '../../../control-plane/dashboard/browser/list/gradual-rows.ts'

const buildRows = (ids: string) => [...ids].map(id => ({ id }))
const take = (ids: string, shown: string, max: number) =>
  takeRows(buildRows(ids), new Set(shown), max)
    .map(({ id }) => id)
    .join('')

t.test(
  'Of a changed list, the first new rows are rendered at once, and rows that are there already with them',
  async t => {
    const rows: [ids: string, shown: string, max: number, rendered: string, what: string][] = [
      ['abcdef', '', 2, 'ab', 'a new list'],
      ['abcdef', 'ab', 2, 'abcd', 'the next frame'],
      ['abcdef', 'abcd', 2, 'abcdef', 'the last frame'],
      ['abcdef', 'abcdef', 2, 'abcdef', 'the same list'],
      ['fedcba', 'abcdef', 2, 'fedcba', 'another order'],
      ['xabcdef', 'abcdef', 2, 'xabcdef', 'one new row'],
      ['xaybzc', 'abc', 2, 'xaybc', 'new rows between others'],
      ['ab', 'abcdef', 2, 'ab', 'fewer rows'],
      ['', 'abc', 2, '', 'none'],
    ]
    for (const [ids, shown, max, rendered, what] of rows) t.equal(take(ids, shown, max), rendered, what)
  },
)
