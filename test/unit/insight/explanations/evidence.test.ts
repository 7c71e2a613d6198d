import t from 'tap'
import { selectEvidence } from '../../../../control-plane/insight/explanations/timeline/evidence.ts'
import type { IncidentTransition } from '../../../../control-plane/insight/explanations/timeline/timeline-store.ts'

const START = new Date('2026-11-21T14:02:07Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1_000)

type Vote = { region: string; state?: string; status?: string; votes?: boolean; failedAt?: number }
const buildVote = ({ region, state = 'failing', status = 'down', votes = true, failedAt = -35 }: Vote) => ({
  ...{ region, state, votes, first_failure_at: state === 'failing' ? at(failedAt).toISOString() : null },
  last_check: { status, scheduled_at: at(-1).toISOString(), attempt: 3, probe_id: 'probe-1' },
})
const opening = (votes: Vote[] | null, intervalSeconds = 60) =>
  ({
    ...{ id: 't', monitor_id: 'm1', interval_seconds: intervalSeconds },
    explanation: votes && { votes: votes.map(buildVote) },
  }) as unknown as IncidentTransition

const OK = { state: 'ok', status: 'up' }
const select = (transition: IncidentTransition | null) => {
  const found = selectEvidence(transition)
  return found && `${found.failing.region} ${found.healthy.region}`
}

t.test('The evidence of an incident is of a failing and a healthy region that decided', async t => {
  const cases: [string, string | null, IncidentTransition | null][] = [
    ['one of each', 'east west', opening([{ region: 'east' }, { region: 'west', ...OK }])],
    [
      'the first of several',
      'east west',
      opening([{ region: 'east' }, { region: 'south' }, { region: 'west', ...OK }]),
    ],
    [
      'a region without a vote is not evidence',
      'south north',
      opening([
        { region: 'east', votes: false },
        { region: 'south' },
        { region: 'west', ...OK, votes: false },
        { region: 'north', ...OK },
      ]),
    ],
    [
      'a healthy region whose newest check failed is not healthy',
      'east north',
      opening([{ region: 'east' }, { region: 'west', state: 'ok', status: 'down' }, { region: 'north', ...OK }]),
    ],
    [
      'a failing region whose newest check is up is not evidence',
      'south south',
      opening([{ region: 'east', status: 'up' }, { region: 'south' }]),
    ],
    ['without a healthy region, the same region earlier', 'east east', opening([{ region: 'east' }])],
    ['no decision', null, null],
    ['a decision whose explanation was deleted', null, opening(null)],
    ['a value of a data source, without votes', null, opening([])],
    ['an explanation of an older version, without votes', null, { ...opening([]), explanation: {} as never }],
  ]
  for (const [name, expected, transition] of cases) t.equal(select(transition), expected, name)
})

t.test('The checks are found by their exact time, an earlier one within an hour or three intervals', async t => {
  const failedMs = at(-1).getTime()
  const firstMs = at(-35).getTime()
  for (const [intervalSeconds, earlierMs] of [
    [60, 3_600_000],
    [1_200, 3_600_000],
    [3_600, 10_800_000],
  ] as const) {
    const { failing, healthy } = selectEvidence(opening([{ region: 'east' }], intervalSeconds))!
    t.same(failing, {
      ...{ region: 'east', status: 'down', fromMs: failedMs, toMs: failedMs + 1, attempt: 3, probeId: 'probe-1' },
    })
    t.same(healthy, { region: 'east', status: 'up', fromMs: firstMs - earlierMs, toMs: firstMs })
  }
})
