import t from 'tap'
import { nextInTurn, projectsWithFew, wholeInTurn } from '../../../control-plane/alerts/fan-out.ts'

const count = (projectId: string, deliveries: number, isWhole = true) => ({ projectId, deliveries, isWhole })

t.test('few deliveries of a project are queued at once: all of its events, or none', async t => {
  t.same([...projectsWithFew([count('a', 60), count('b', 60), count('a', 41), count('b', 40)])], ['b'])
  t.same([...projectsWithFew([count('a', 3), count('a', 50, false), count('b', 0)])], ['b'])
})

t.test('so are those of all projects together', async t => {
  const many = Array.from({ length: 30 }, (_, i) => count(`${i}`, 90))
  t.equal(projectsWithFew(many).size, 11)
  t.ok(projectsWithFew([...many, count('small', 5)]).has('small'))
})

t.test('a turn takes whole events, as long as they are not too many', async t => {
  t.equal(wholeInTurn([200, 300, 1]), 2)
  t.equal(wholeInTurn([501, 1]), 0)
  t.equal(wholeInTurn([1, null, 1]), 1)
  t.equal(wholeInTurn([1, 2, 3]), 3)
})

t.test('a project that has just come has the next turn', async t => {
  const turns = new Map([
    ['big', 7],
    ['other', 3],
  ])
  t.equal(nextInTurn(['big', 'new', 'other'], turns, new Set()), 'new')
  t.equal(nextInTurn(['big', 'new', 'other'], turns, new Set(['new'])), 'other')
  t.equal(nextInTurn(['big'], turns, new Set()), 'big')
  t.equal(nextInTurn(['big'], turns, new Set(['big'])), null)
})
