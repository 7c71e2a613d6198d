import t from 'tap'
import { formatExplanation } from '../../../../control-plane/verdict/core/explanation-text.ts'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { StatusTransition, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { FailureSource, Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'
import { buildPolicy, buildResult, REGIONS, START_MS } from './runs.ts'

const { UP, DOWN, DEGRADED } = Outcome
const REFUSED = { source: FailureSource.TARGET, code: 'ECONNREFUSED', message: 'connection refused' }
const TIMED_OUT = { source: FailureSource.TARGET, code: 'ETIMEDOUT', message: 'timed out' }
const ERRORS: Record<string, typeof REFUSED> = { us: REFUSED, eu: TIMED_OUT, ap: REFUSED }

/** The items are `second region outcome`. The monitor uses every region of the run, and `regions` more. */
function collectTransitions(
  run: [number, string, Outcome][],
  regions = ['us', 'eu', 'ap'],
  changes = {},
): StatusTransition[] {
  const policy = buildPolicy({ regions: regions.map(name => REGIONS[name]!), ...changes })
  let state = createMonitorState('m-1', 1)
  return run.flatMap(([second, name, outcome]) => {
    const atMs = START_MS + second * 1000
    const error = outcome === DOWN ? ERRORS[name]! : null
    const result = buildResult({ region: REGIONS[name]!, scheduledAtMs: atMs, outcome, error })
    const decision = decide(state, result, policy, atMs)
    state = decision.state
    return decision.transition ?? []
  })
}

const OUTAGE: [number, string, Outcome][] = [
  [0, 'us', UP],
  [0, 'eu', UP],
  [0, 'ap', UP],
  [60, 'us', DOWN],
  [60.2, 'eu', DOWN],
  [61, 'us', DOWN],
  [61.2, 'eu', DOWN],
  [62, 'ap', UP],
  [64, 'us', DOWN],
  [64.2, 'eu', DOWN],
]

t.test('a transition contains the votes, attempts, thresholds and timings that caused it', async t => {
  const down = collectTransitions(OUTAGE).at(-1)!
  t.match(down, {
    from: 'up',
    to: 'down',
    atMs: START_MS + 64_200,
    quorum: 'full',
    downSinceMs: START_MS + 64_200,
    downDurationMs: null,
    failingRegions: ['us-east', 'eu-west'],
  })
  t.match(down.check, { region: 'eu-west', outcome: DOWN })
  const { votes, ...rest } = down.explanation
  t.same(rest, {
    from: 'up',
    to: 'down',
    at: '2026-01-01T00:01:04.200Z',
    rule: 'majority_failing',
    quorum: { mode: 'full', regions: 3, needed: 2, voting: 3, lost_since: null },
    counts: { ok: 1, degraded: 0, failing: 2, not_voting: 0 },
    thresholds: {
      failures_in_a_row: 3,
      better_in_a_row: 2,
      interval_seconds: 60,
      timeout_ms: 10_000,
      vote_lifetime_seconds: 190,
    },
    decided_by: {
      region: 'eu-west',
      status: 'down',
      status_code: 0,
      response_time_ms: 12.5,
      error: { source: 'target', code: 'ETIMEDOUT', message: 'timed out' },
      attempt: 1,
      scheduled_at: '2026-01-01T00:01:04.200Z',
      probe_id: 'eu-west-p1',
    },
    timings: {
      first_failure_at: '2026-01-01T00:01:00.000Z',
      others_asked_at: '2026-01-01T00:01:00.000Z',
      no_majority_since: null,
      outage_since: '2026-01-01T00:01:04.200Z',
      outage_seconds: 0,
    },
  })
  t.match(votes, [
    { region: 'us-east', state: 'failing', votes: true, failed_in_a_row: 3, age_seconds: 0.2 },
    { region: 'eu-west', state: 'failing', votes: true, failed_in_a_row: 3, age_seconds: 0 },
    { region: 'ap-southeast', state: 'ok', votes: true, failed_in_a_row: 0, age_seconds: 2.2 },
  ])
  t.match(votes[2]!.last_check, { status: 'up', status_code: 200, error: null })
  t.same(JSON.parse(JSON.stringify(down.explanation)), down.explanation)
})

t.test('the summary of a transition to down is a sentence', async t => {
  t.equal(
    formatExplanation(collectTransitions(OUTAGE).at(-1)!.explanation),
    '2 of 3 regions failed 3 checks in a row: us-east (connection refused), eu-west (timed out).',
  )
})

t.test('the summary of a recovery contains the duration of the outage', async t => {
  const run: [number, string, Outcome][] = [
    ...OUTAGE,
    [120, 'us', UP],
    [121, 'eu', UP],
    [125, 'us', UP],
    [126, 'eu', UP],
  ]
  const up = collectTransitions(run).at(-1)!
  t.match(up, { to: 'up', downSinceMs: START_MS + 64_200, downDurationMs: 61_800, failingRegions: [] })
  t.equal(up.check.outcome, UP)
  t.match(up.explanation, { rule: 'none_failing', timings: { outage_seconds: 61.8 } })
  t.equal(formatExplanation(up.explanation), 'No region fails, after an outage of 62 s: 3 of 3 regions up.')
})

t.test('a partial failure names the failing region and shows its check, even if another region decided', async t => {
  const run = OUTAGE.filter(([, name]) => name !== 'eu' && name !== 'ap')
  const degraded = collectTransitions([...run, [65, 'eu', UP]], ['us', 'eu']).at(-1)!
  t.match(degraded, { from: null, to: 'degraded', failingRegions: ['us-east'], check: { region: 'us-east' } })
  t.equal(degraded.explanation.rule, 'some_failing')
  t.equal(degraded.explanation.decided_by.region, 'eu-west')
  t.equal(
    formatExplanation(degraded.explanation),
    '1 of 2 regions failed 3 checks in a row: us-east (connection refused).',
  )
})

t.test('the summary names slow answers in most regions', async t => {
  const degraded = collectTransitions([[0, 'us', DEGRADED]], ['us'], { retryCount: 0 }).at(-1)!
  t.equal(degraded.explanation.rule, 'majority_degraded')
  t.equal(formatExplanation(degraded.explanation), '1 of 1 region was not up in 1 check: us-east (degraded, 12.5 ms).')
})

t.test('a transition by reduced quorum contains the time at which the quorum was lost', async t => {
  const minutes = [0, 60, 120, 180, 240, 300].map((second): [number, string, Outcome] => [second, 'us', UP])
  const up = collectTransitions(minutes).at(-1)!
  t.equal(up.quorum, 'reduced')
  t.match(up.explanation.quorum, { mode: 'reduced', regions: 3, needed: 2, voting: 1 })
  t.equal(up.explanation.quorum.lost_since, '2026-01-01T00:00:00.000Z')
  t.match(up.explanation.votes[1], { region: 'eu-west', state: 'pending', votes: false, last_check: null })
  t.equal(
    formatExplanation(up.explanation),
    'No region fails: 1 of 1 voting region up. Decided by reduced quorum: 1 of 3 regions vote.',
  )
})

t.test('a monitor whose votes do not expire has no vote lifetime in its explanation', async t => {
  const down = collectTransitions([[0, 'us', DOWN]], ['us'], { retryCount: 0, expires: false }).at(-1)!
  t.equal(down.explanation.thresholds.vote_lifetime_seconds, null)
  t.equal(formatExplanation(down.explanation), '1 of 1 region failed 1 check: us-east (connection refused).')
})

t.test('a transition contains the doubt and its settlement', async t => {
  const policy = buildPolicy({ regions: ['us-east'], retryCount: 0, witness: true })
  const us = (second: number, outcome: Outcome) =>
    buildResult({ region: 'us-east', scheduledAtMs: START_MS + second * 1000, outcome, isDoubted: true })
  const check = { region: 'eu-west', scheduledAtMs: START_MS + 61_000, trigger: Trigger.WITNESS }
  const unavailable = { source: FailureSource.TARGET, code: 'http_status', message: 'status 503' }
  const witness = buildResult({ ...check, outcome: DOWN, error: unavailable, statusCode: 503 })
  const transitionsAfter = (results: VerdictResult[]) => {
    let state = createMonitorState('m-1', 1)
    return results.flatMap(result => {
      const decision = decide(state, result, policy, result.scheduledAtMs)
      state = decision.state
      return decision.transition ?? []
    })
  }

  const confirmed = transitionsAfter([us(0, UP), us(60, DOWN), witness]).at(-1)!
  t.match(confirmed, { to: 'down', failingRegions: ['us-east'], check: { region: 'us-east' } })
  t.match(confirmed.explanation, {
    decided_by: { region: 'us-east' },
    votes: [{ region: 'us-east', votes: true, doubt: { settled_by: 'witness' } }],
  })
  t.match(confirmed.explanation.votes[0]!.doubt!.witness, {
    region: 'eu-west',
    status: 'down',
    status_code: 503,
  })
  t.equal(
    formatExplanation(confirmed.explanation),
    '1 of 1 region failed 1 check: us-east (connection refused). us-east failed for many hosts at the same time; a check from eu-west got status 503.',
  )

  const alone = transitionsAfter([us(0, UP), us(60, DOWN), us(90, DOWN)]).at(-1)!
  t.match(alone.explanation.votes, [{ doubt: { settled_by: 'limit', witness: null } }])
  t.match(formatExplanation(alone.explanation), /; no other region could confirm or contradict it in time\.$/)
})
