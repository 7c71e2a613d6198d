import t from 'tap'
import {
  listNotificationsOnRemoval,
  listPendingNotifications,
  type NotifiedStatus,
  type SuppressedChanges,
  type SuppressedTransition,
  suppressTransition,
} from '../../../../control-plane/verdict/suppression/suppressed.ts'

/** A run such as "up down up": the steps between the statuses, numbered from 1. */
function stepsOf(run: string): SuppressedTransition[] {
  const statuses = run.split(' ').map(word => (word === 'null' ? null : word)) as NotifiedStatus[]
  let isOutage = statuses[0] === 'down'
  return statuses.slice(1).map((to, i) => {
    const wasInOutage = isOutage
    isOutage = to === 'down' || (to === 'degraded' && isOutage)
    return {
      from: statuses[i]!,
      to: to as SuppressedTransition['to'],
      wasInOutage,
      transitionId: String(i + 1),
      eventIds: [],
    }
  })
}

const withheldAfter = (run: string): SuppressedChanges =>
  stepsOf(run).reduce<SuppressedChanges | null>(suppressTransition, null)!

const write = ({ transition: step, withoutOutage: quietly }: ReturnType<typeof listPendingNotifications>[number]) =>
  `${step.transitionId}:${step.to}${quietly ? ' quietly' : ''}`

/** What was told last, what happened in the silence, and what is told after it. */
const ROWS: [title: string, run: string, told: string][] = [
  ['an outage that began and ended in the silence is told to nobody', 'up down up', ''],
  ['an outage that goes on is told', 'up down', '1:down'],
  ['of several outages the one that goes on is told', 'up down up down', '3:down'],
  ['several that are over are told to nobody', 'up down up down up', ''],
  ['the end of an outage that was told is told', 'down up', '1:up'],
  ['an outage that was told and goes on is not told again', 'down degraded down', ''],
  ['its end and a new one that goes on are both told', 'down up down', '1:up 2:down'],
  ['its end is told, one after it that is over is not', 'down up down up', '1:up'],
  ['where an outage that was told has come to is told', 'down degraded', '1:degraded'],
  ['an outage that nobody knows of is told with where it has come to', 'up down degraded', '1:down 2:degraded'],
  ['degraded is told', 'up degraded', '1:degraded'],
  ['degraded in between is not', 'up degraded up', ''],
  ['an end from degraded is told as it is', 'degraded up', '1:up'],
  ['an outage between degraded and up is not told with the end of degraded', 'degraded down up', '2:up quietly'],
  ['an outage between degraded and degraded is told to nobody', 'degraded down up degraded', ''],
  ['a first verdict that is up is told to nobody', 'null up', ''],
  ['a first verdict that is down is told', 'null down', '1:down'],
  ['nor is a first outage that is over', 'null down up', ''],
  ['an outage that ended in degraded after it was told', 'down up degraded', '1:up 2:degraded'],
]

for (const [title, run, expected] of ROWS) {
  t.test(title, async t => {
    t.equal(listPendingNotifications(withheldAfter(run)).map(write).join(' '), expected, run)
  })
}

t.test('a monitor that leaves the verdict: only the end of what was told is told', async t => {
  const rows: [string, string, SuppressedChanges['outage']][] = [
    ['up down', '', 'untold'],
    ['up down degraded', '', 'untold'],
    ['down up', '1:up', 'none'],
    ['down up down', '1:up', 'untold'],
    ['down degraded', '', 'told'],
    ['up degraded', '', 'none'],
  ]
  for (const [run, expected, outage] of rows) {
    t.equal(listNotificationsOnRemoval(withheldAfter(run)).map(write).join(' '), expected, run)
    t.equal(withheldAfter(run).outage, outage, run)
  }
})

t.test('however often a monitor changes, what is kept of it stays small', async t => {
  const withheld = withheldAfter(`up ${'down degraded up degraded '.repeat(1_000)}down`)
  t.ok(JSON.stringify(withheld).length < 1_000)
})
