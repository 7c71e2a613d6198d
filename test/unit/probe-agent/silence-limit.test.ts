import t from 'tap'
import {
  computeSilenceLimitMs,
  createResponseTimes,
  recordResponseTime,
} from '../../../probe-agent/schedule/rechecks/silence-limit.ts'

const quick = (count: number) => Array.from({ length: count }, () => 200)

/** The limit for a timeout after answers that took these times, in ms. */
const ROWS: [string, number, number[], number][] = [
  ['a third of the timeout without an answer', 9_000, [], 3_000],
  ['at most 5 s', 30_000, [], 5_000],
  ['the same after quick answers', 30_000, quick(100), 5_000],
  ['1.5 times the slowest of fewer than a hundred answers', 10_000, [4_000, ...quick(98)], 6_000],
  ['at most the timeout', 10_000, [8_000], 10_000],
  ['one slow answer of a hundred is not the 99th percentile', 9_000, [4_000, ...quick(99)], 3_000],
  ['the second slowest of a hundred is', 10_000, [5_000, 4_000, ...quick(98)], 6_000],
  ['slow answers before the last hundred do not count', 9_000, [5_000, 4_000, ...quick(100)], 3_000],
]

for (const [title, timeoutMs, answersMs, expectedMs] of ROWS) {
  t.test(`How long an attempt may be silent: ${title}`, async t => {
    const times = createResponseTimes()
    for (const ms of answersMs) recordResponseTime(times, timeoutMs, ms)
    t.equal(computeSilenceLimitMs(timeoutMs, times), expectedMs)
  })
}
