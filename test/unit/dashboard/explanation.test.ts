import { h } from 'preact'
import t from 'tap'
import { FrameProvider, STATIC_TOOLS } from '../../../control-plane/dashboard/core/frame-context.ts'
import {
  ExplanationPanel,
  formatCheck,
  toBars,
  VoteTable,
} from '../../../control-plane/dashboard/parts/explanation.tsx'
import { formatMargin, formatPings } from '../../../control-plane/dashboard/screens/monitors/votes-section.tsx'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import type { ExplainedVote } from '../../../control-plane/verdict/core/types.ts'
import { buildCurrentVotes } from '../../support/dashboard-answers.ts'
import {
  ADMIN,
  ago,
  buildExplanation,
  buildFailingVote,
  buildVote,
  NOW,
  REFUSED,
} from '../../support/dashboard-fixtures.ts'
import { toText } from '../../support/dashboard-screens.tsx'

const FRAME = {
  ...{ me: ADMIN, nowMs: NOW, timeZone: 'UTC', isInteractive: false },
  execute: async () => ({ error: { status: 0, code: 'unreachable', message: '' } }),
  ...STATIC_TOOLS,
}

const render = (...content: Parameters<typeof renderHtml>) =>
  toText(renderHtml(h(FrameProvider, { value: FRAME }, ...content)))
const renderPanel = (changes: Parameters<typeof buildExplanation>[0] = {}) =>
  render(h(ExplanationPanel, { explanation: buildExplanation(changes) }))
const renderTable = (...votes: ExplainedVote[]) => render(h(VoteTable, { votes, threshold: 3 }))

t.test('The panel says by which rule the status was decided, with the numbers of the rule', t => {
  const counts = (ok: number, degraded: number, failing: number) => ({ ok, degraded, failing, not_voting: 0 })
  const rows = [
    ['majority_failing', counts(1, 0, 2), 'Down: 2 of 3 regions are failing, which is a majority of the votes.'],
    ['some_failing', counts(2, 0, 1), 'Degraded: 1 of 3 regions is failing, which is not a majority.'],
    ['majority_degraded', counts(1, 2, 0), 'Degraded: 2 of 3 regions are degraded.'],
    ['none_failing', counts(3, 0, 0), 'Up: no region with a vote is failing.'],
  ] as const
  for (const [rule, count, sentence] of rows) t.match(renderPanel({ rule, counts: count }), sentence, rule)
  t.end()
})

t.test('The panel names what was needed, and regions without a probe', t => {
  const text = renderPanel()
  t.match(text, '2 of 3 votes needed · 3 failures in a row each · a vote is valid for 3 min 10 s · quorum full')
  t.notMatch(text, 'no probe in')
  const quorum = { mode: 'reduced', regions: 3, needed: 2, voting: 2, lost_since: null } as const
  const thresholds = { ...buildExplanation().thresholds, failures_in_a_row: 1, vote_lifetime_seconds: null }
  const reduced = renderPanel({ quorum: { ...quorum, without_probe: ['us-east', 'us-west'] }, thresholds })
  t.match(reduced, '2 of 3 votes needed · 1 failure in a row each · quorum reduced · no probe in us-east, us-west')
  t.end()
})

t.test('The panel has the times of the decision in their order, or the length of the outage', t => {
  t.match(renderPanel(), 'First failure 14:03:30 UTC → other regions asked 6 s later → decided 1 min later')
  const { timings } = buildExplanation()
  t.match(
    renderPanel({ timings: { ...timings, others_asked_at: null } }),
    /First failure 14:03:30 UTC → decided 1 min later/,
  )
  const over = { ...timings, first_failure_at: null, others_asked_at: null, outage_seconds: 125 }
  t.match(renderPanel({ rule: 'none_failing', timings: over }), 'The outage lasted 2 min 5 s.')
  t.notMatch(renderPanel({ timings: { ...over, outage_seconds: null } }), /First failure|outage lasted/)
  t.end()
})

t.test('A row of the votes has vote, failures in a row, last check, whose fault it was, and when', t => {
  const rows: [vote: ExplainedVote, text: string][] = [
    [buildFailingVote('us-east'), 'us-east failing 3 / 3 connection refused target 14:04:30 UTC'],
    [buildFailingVote('us-east', { failed_in_a_row: 9 }), 'us-east failing 3 / 3 connection refused'],
    [buildVote('us-east'), 'us-east ok 0 / 3 200, 812 ms 14:04:30 UTC'],
    [buildVote('us-east', { votes: false }), 'us-east ok, does not count 0 / 3'],
    [
      buildVote('us-east', { state: 'pending', votes: false, last_check: null }),
      'us-east no vote yet 0 / 3 not checked yet',
    ],
    [buildFailingVote('us-east', { votes: false, doubt: { settled_by: null, witness: null } }), 'failing, in doubt'],
    [
      buildFailingVote('us-east', { doubt: { settled_by: 'witness', witness: null } }),
      'us-east failing, confirmed 3 / 3',
    ],
  ]
  for (const [vote, text] of rows) t.match(renderTable(vote).replace(/ ?\/ ?/g, ' / '), text)
  const renderFault = (source: 'resolver' | 'internal' | 'target') =>
    renderTable(buildFailingVote('us-east', { last_check: { ...REFUSED, error: { ...REFUSED.error!, source } } }))
  t.match(renderFault('resolver'), 'connection refused DNS resolver 14:04:30')
  t.match(renderFault('internal'), 'connection refused Picket 14:04:30')
  t.end()
})

t.test('A failing vote is coloured only if it counts, and a check without a status code has none', t => {
  const renderVote = (vote: ExplainedVote) =>
    renderHtml(h(FrameProvider, { value: FRAME }, h(VoteTable, { votes: [vote], threshold: 3 })))
  t.match(renderVote(buildFailingVote('us-east')), '<td class="nowrap down">failing')
  t.notMatch(renderVote(buildFailingVote('us-east', { votes: false })), 'nowrap down')
  t.match(renderVote(buildVote('us-east', { state: 'degraded' })), '<td class="nowrap degraded">degraded')
  t.equal(formatCheck({ ...REFUSED, status: 'up', error: null, response_time_ms: 12 }), '12 ms', 'a ping')
  t.equal(formatCheck({ ...REFUSED, error: null, status_code: 204, response_time_ms: 1_250 }), '204, 1.25 s')
  t.end()
})

t.test('The strip has one bar a region, without a vote an outline', t => {
  const votes = [
    buildFailingVote('a'),
    buildFailingVote('b', { votes: false }),
    buildVote('c', { state: 'degraded' }),
    buildVote('d', { state: 'pending', votes: true }),
    buildVote('e'),
  ]
  t.same(
    toBars(votes).map(({ name, state }) => `${name} ${state}`),
    ['a failing', 'b none', 'c degraded', 'd none', 'e ok'],
  )
  t.end()
})

t.test('A heartbeat says whether its pings come, without votes', t => {
  const { counts, quorum } = buildCurrentVotes()
  const rows: [failing: number, voting: number, sentence: string][] = [
    [1, 1, 'The expected ping has not come, or a run has failed.'],
    [0, 0, 'No ping has come yet.'],
    [0, 1, 'The last ping came in time.'],
  ]
  for (const [failing, voting, sentence] of rows)
    t.equal(formatPings({ counts: { ...counts, failing }, quorum: { ...quorum, voting } }), sentence)
  t.end()
})

t.test('The votes now say how far the monitor is from down', t => {
  const { counts, quorum } = buildCurrentVotes()
  const failing = (count: number) => ({ counts: { ...counts, failing: count } })
  const rows: [changes: Parameters<typeof buildCurrentVotes>[0], sentence: string][] = [
    [failing(0), '0 of 3 votes are failing; 2 more make it down.'],
    [failing(1), '1 of 3 votes is failing; 1 more makes it down.'],
    [failing(2), '2 of 3 votes are failing; 2 are enough for down.'],
    [{ ...failing(1), failing_votes_needed: 1 }, '1 of 3 votes is failing; 1 is enough for down.'],
    [failing(3), '3 of 3 votes are failing; 2 are enough for down.'],
    [
      { quorum: { ...quorum, mode: null, voting: 1 }, failing_votes_needed: null },
      '1 of 3 regions have a vote. 2 are needed, so the status is held.',
    ],
    [
      { unchecked_since: ago(5), quorum: { ...quorum, mode: null, voting: 0 } },
      'No check has counted for three intervals, so the status is unknown.',
    ],
  ]
  for (const [changes, sentence] of rows) t.equal(formatMargin(buildCurrentVotes(changes)), sentence)
  t.end()
})
