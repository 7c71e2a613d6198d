import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { buildPolicy, buildResult, START_MS } from './runs.ts'

/**
 * Slots of attempts (. up, x down, ? unknown), and what the probe receives after each attempt: o ok, f failing, - nothing.
 */
const ROWS: [retryCount: number, slots: string, expected: string, title: string][] = [
  [2, '. . .', 'o - -', 'a steady region receives its first state only'],
  [2, '. xxx x x', 'o --f - -', 'an outage is confirmed once; one attempt a slot shows that the probe knows'],
  [2, '. xxx xxx', 'o --f -ff', 'a probe that missed the state re-checks a known failure'],
  [2, '. xxx .. .', 'o --f -o -', 'the end is confirmed once'],
  [2, '. xxx .x', 'o --f --', 'a success that does not last is re-checked by a probe that knows'],
  [2, '. x x x', 'o - o f', 'a probe that takes its region for failing makes no re-checks'],
  [2, '. xx x', 'o -- f', 'a chain that was cut off'],
  [2, '. x? x?', 'o -- --', 'a re-check that our own fault spoiled'],
  [0, '. x x .', 'o f - o', 'without re-checks there is nothing to see'],
]

for (const [retryCount, slots, expected, title] of ROWS) {
  t.test(`a probe receives the state of its region: ${title}`, async t => {
    const policy = buildPolicy({ retryCount })
    let state = createMonitorState('m-1', 1)
    const received = slots.split(' ').map((attempts, slot) => {
      const sent = [...attempts].map((sign, i) => {
        const outcome = sign === '.' ? Outcome.UP : sign === 'x' ? Outcome.DOWN : Outcome.UNKNOWN
        const scheduledAtMs = START_MS + slot * 60_000
        const result = buildResult({ region: 'us-east', scheduledAtMs, attempt: i + 1, outcome })
        const decision = decide(state, result, policy, scheduledAtMs + i * 1_000)
        state = decision.state
        return decision.regionState?.state[0] ?? '-'
      })
      return sent.join('')
    })
    t.equal(received.join(' '), expected)
  })
}
