import t from 'tap'
import { validateSilenceEnd } from '../../../../control-plane/verdict/silences/limits.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const DAY_MS = 24 * 3_600_000

/** How long after the present a silence ends, in ms, and the error. */
const ROWS: [title: string, aheadMs: number, message: string | null][] = [
  ['in the past', -1, 'until must be in the future'],
  ['now', 0, 'until must be in the future'],
  ['in a moment', 1, null],
  ['after 90 days', 90 * DAY_MS, null],
  ['after more than 90 days', 90 * DAY_MS + 1, 'until must be at most 90 days ahead'],
]

for (const [title, aheadMs, message] of ROWS) {
  t.test(`a silence that ends ${title} is ${message ? 'refused' : 'accepted'}`, async t => {
    const problems = validateSilenceEnd('until', new Date(NOW.getTime() + aheadMs), NOW)
    t.same(problems, message === null ? [] : [{ path: 'until', message }])
  })
}
