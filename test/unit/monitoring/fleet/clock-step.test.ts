import t from 'tap'
import { createClockStepDetector } from '../../../../control-plane/monitoring/fleet/live-sets/clock-step.ts'

const HOUR_MS = 3_600_000

/** Each reading: when it was asked and answered on the monotonic clock, and how far the other clock was ahead of that. */
type Reading = [askedMs: number, answeredMs: number, aheadMs: number]

const ROWS: [title: string, readings: Reading[], steps: boolean[]][] = [
  ['the first reading does not count as a step', [[0, 10, 5 * HOUR_MS]], [false]],
  [
    'a steady clock is not set',
    [
      [0, 10, 500],
      [60_000, 60_010, 500],
    ],
    [false, false],
  ],
  [
    'a clock that is set ahead is noticed once',
    [
      [0, 10, 0],
      [1_000, 1_010, HOUR_MS],
      [2_000, 2_010, HOUR_MS],
    ],
    [false, true, false],
  ],
  [
    'a clock that is set back is noticed once, also after it was ahead',
    [
      [0, 10, HOUR_MS],
      [1_000, 1_010, 0],
      [2_000, 2_010, -HOUR_MS],
      [3_000, 3_010, -HOUR_MS],
    ],
    [false, true, true, false],
  ],
  [
    'a clock that is adjusted by less than a second is not set',
    [
      [0, 10, 0],
      [1_000, 1_010, 900],
      [2_000, 2_010, 0],
    ],
    [false, false, false],
  ],
  [
    'an answer that took 30 s does not count as a step',
    [
      [0, 10, 0],
      [1_000, 31_000, 0],
      [32_000, 32_010, 0],
    ],
    [false, false, false],
  ],
  [
    'a step during a slow answer is noticed when it is greater than the wait',
    [
      [0, 10, 0],
      [1_000, 6_000, 60_000],
    ],
    [false, true],
  ],
]

t.test('A clock that was set is distinguished from a slow answer', async t => {
  for (const [title, readings, expected] of ROWS) {
    const isStep = createClockStepDetector()
    const steps = readings.map(([askedMs, answeredMs, aheadMs]) =>
      // read in the middle of the wait
      isStep({ askedMs, answeredMs, clockMs: (askedMs + answeredMs) / 2 + aheadMs }),
    )
    t.same(steps, expected, title)
  }
})
