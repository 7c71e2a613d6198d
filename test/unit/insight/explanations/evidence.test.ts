import t from 'tap'
import { selectEvidence } from '../../../../control-plane/insight/explanations/timeline/evidence.ts'
import type { TimelineTransition } from '../../../../control-plane/insight/explanations/timeline/timeline-store.ts'

const START = new Date('2026-11-21T14:02:07Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1_000)

type Vote = { region: string; state?: string; status?: string; votes?: boolean; failedAt?: number }
const buildVote = ({ region, state = 'failing', status = 'down', votes = true, failedAt = -35 }: Vote) => ({
  ...{ region, state, votes, first_failure_at: state === 'failing' ? at(failedAt).toISOString() : null },
  last_check: { status, scheduled_at: at(-1).toISOString(), attempt: 3 },
})
const transition = (id: string, seconds: number, votes: Vote[] | null, to = 'down') =>
  ({
    ...{ id, monitor_id: 'm1', from: 'up', to, at: at(seconds) },
    explanation: votes && { votes: votes.map(buildVote) },
  }) as unknown as TimelineTransition

const OK = { state: 'ok', status: 'up' }
const select = (...transitions: TimelineTransition[]) => {
  const found = selectEvidence(transitions, START)
  return found && `${found.transitionId} ${found.failing.region} ${found.healthy.region}`
}

t.test('The evidence of an incident is of a failing and a healthy region that decided', async t => {
  const cases: [string, string | null, TimelineTransition[]][] = [
    ['one of each', 'a east west', [transition('a', 0, [{ region: 'east' }, { region: 'west', ...OK }])]],
    [
      'the first of several',
      'a east west',
      [transition('a', 0, ['east', 'south'].map(region => ({ region })).concat([{ region: 'west', ...OK }] as never))],
    ],
    [
      'a region without a vote is not evidence',
      'a south north',
      [
        transition('a', 0, [
          { region: 'east', votes: false },
          { region: 'south' },
          { region: 'west', ...OK, votes: false },
          { region: 'north', ...OK },
        ]),
      ],
    ],
    [
      'a healthy region whose newest check failed is not healthy',
      'a east north',
      [
        transition('a', 0, [
          { region: 'east' },
          { region: 'west', state: 'ok', status: 'down' },
          { region: 'north', ...OK },
        ]),
      ],
    ],
    ['without a healthy region, the same region earlier', 'a east east', [transition('a', 0, [{ region: 'east' }])]],
    [
      'the last decision until the start',
      'b east east',
      [
        transition('a', -900, [{ region: 'west' }]),
        transition('b', 0.5, [{ region: 'east' }]),
        transition('c', 300, [{ region: 'west' }]),
      ],
    ],
    [
      'an incident opened by hand before the outage',
      'c west west',
      [transition('b', 100, [{ region: 'east' }], 'degraded'), transition('c', 300, [{ region: 'west' }])],
    ],
    ['no decision', null, []],
    ['a decision whose explanation was deleted', null, [transition('a', 0, null)]],
    ['a value of a data source, without votes', null, [transition('a', 0, [])]],
  ]
  for (const [name, expected, transitions] of cases) t.equal(select(...transitions), expected, name)
})

t.test('The checks are found by their exact time, an earlier one within the hour before the first failure', async t => {
  const evidence = selectEvidence([transition('a', 0, [{ region: 'east' }])], START)!
  const failedMs = at(-1).getTime()
  t.same(evidence.failing, { region: 'east', fromMs: failedMs, toMs: failedMs + 1, attempt: 3 })
  const firstMs = at(-35).getTime()
  t.same(evidence.healthy, { region: 'east', fromMs: firstMs - 3_600_000, toMs: firstMs, status: 'up' })
})
