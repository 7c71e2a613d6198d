import t from 'tap'
import {
  countEventsInTurn,
  pickNextProject,
  selectInlineProjects,
} from '../../../../control-plane/alerting/routing/publishing/fan-out.ts'

const count = (projectId: string, deliveries: number, isWhole = true) => ({ projectId, deliveries, isWhole })

t.test('Few deliveries of a project are queued inline: all of its events, or none', async t => {
  t.same([...selectInlineProjects([count('a', 60), count('b', 60), count('a', 41), count('b', 40)])], ['b'])
  t.same([...selectInlineProjects([count('a', 3), count('a', 50, false), count('b', 0)])], ['b'])
})

t.test('The deliveries of all projects together are limited too', async t => {
  const many = Array.from({ length: 30 }, (_, i) => count(`${i}`, 90))
  t.equal(selectInlineProjects(many).size, 11)
  t.ok(selectInlineProjects([...many, count('small', 5)]).has('small'))
})

t.test('A turn contains whole events up to its limit', async t => {
  t.equal(countEventsInTurn([200, 300, 1]), 2)
  t.equal(countEventsInTurn([501, 1]), 0)
  t.equal(countEventsInTurn([1, null, 1]), 1)
  t.equal(countEventsInTurn([1, 2, 3]), 3)
})

t.test('A new project has the next turn', async t => {
  const turns = new Map([
    ['big', 7],
    ['other', 3],
  ])
  t.equal(pickNextProject(['big', 'new', 'other'], turns, new Set()), 'new')
  t.equal(pickNextProject(['big', 'new', 'other'], turns, new Set(['new'])), 'other')
  t.equal(pickNextProject(['big'], turns, new Set()), 'big')
  t.equal(pickNextProject(['big'], turns, new Set(['big'])), null)
})
