import t from 'tap'
import {
  addClockSample,
  type ClockSample,
  createRemoteClock,
  measureClockOffset,
  pickBestOffsetMs,
} from '../../../shared/process/remote-clock.ts'

const offsetAfter = (samples: ClockSample[]) => pickBestOffsetMs(samples.reduce<ClockSample[]>(addClockSample, []))

t.test('The remote time is assumed in the middle of the round trip', async t => {
  t.same(measureClockOffset(1000, 1040, 500_020), { offsetMs: 499_000, roundTripMs: 40 })
})

t.test('The sample with the shortest round trip is used', async t => {
  const rows: [ClockSample[], number | null, string][] = [
    [[], null, 'nothing is known before the first answer'],
    [[{ offsetMs: 100, roundTripMs: 50 }], 100, 'the first answer'],
    [
      [
        { offsetMs: 100, roundTripMs: 10 },
        { offsetMs: 120, roundTripMs: 80 },
      ],
      100,
      'a slow answer is worth less',
    ],
    [
      [
        { offsetMs: 120, roundTripMs: 80 },
        { offsetMs: 100, roundTripMs: 10 },
      ],
      100,
      'a quick one corrects it',
    ],
    [
      [
        { offsetMs: 100, roundTripMs: 10 },
        { offsetMs: 5100, roundTripMs: 80 },
      ],
      5100,
      'the control plane’s clock was set: what contradicts the newest answer is forgotten',
    ],
    [
      [{ offsetMs: 100, roundTripMs: 1 }, ...Array.from({ length: 12 }, () => ({ offsetMs: 101, roundTripMs: 20 }))],
      101,
      'an old answer does not count for ever',
    ],
  ]
  for (const [samples, offsetMs, title] of rows) t.equal(offsetAfter(samples), offsetMs, title)
})

t.test('Between samples the time is carried forward by the monotonic clock', async t => {
  let monotonicMs = 50
  const clock = createRemoteClock(() => monotonicMs)
  t.equal(clock.nowMs(), null)
  clock.learn(40, 60, 1_800_000_000_000)
  t.equal(clock.nowMs(), 1_800_000_000_000)
  monotonicMs += 3_600_000
  t.equal(clock.nowMs(), 1_800_003_600_000)
})
