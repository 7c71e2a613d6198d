import t from 'tap'
import {
  computeTolerance,
  createStreamClock,
  detectClockStep,
} from '../../../../control-plane/verdict/reader/counting/stream-clock.ts'

const NOON_MS = Date.UTC(2026, 7, 1, 12)
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

type Row = {
  title: string
  /** [seconds when it is read, seconds when it was taken, seconds by which JetStream's clock was set in between] */
  messages: [number, number, number][]
  /** the known time of JetStream's clock; defaults to that at the start */
  known?: (readSecond: number) => number
}

const rows: Row[] = [
  {
    title: 'messages that are read without delay move nothing',
    messages: [
      [0, 0, 0],
      [30, 30, 0],
      [31, 30.9, 0],
    ],
  },
  {
    title: 'a backlog is read faster than it arrived: the clock was not set',
    messages: [
      [0, -600, 0],
      [0.1, -300, 0],
      [0.2, -299, 0],
      [0.3, 0.2, 0],
    ],
  },
  {
    title: 'a message from the future: the clock was set ahead',
    messages: [
      [0, 0, 0],
      [10, 3_610, 3_600],
      [11, 3_611, 0],
    ],
  },
  {
    title: 'a message from before the one before: the clock was set back',
    messages: [
      [0, 0, 0],
      [10, -590, -600],
      [11, -589, 0],
      [20, 20, 600],
    ],
  },
  {
    title: 'in a backlog the times of the messages show the step',
    messages: [
      [600, 0, 0],
      [600, 1, 0],
      [600, -599, -600],
      [600, -598, 0],
    ],
  },
  {
    title: 'a process that knew the new time before a message showed the step changes nothing',
    messages: [
      [0, 0, 0],
      [10, 610, 600],
    ],
    known: second => second + 600,
  },
]

for (const { title, messages, known = (second: number) => second } of rows) {
  t.test(title, async t => {
    const time = createStreamClock(NOON_MS, 0)
    const steps = messages.map(([readS, takenS]) => {
      const readMs = readS * SECOND_MS
      return detectClockStep(time, NOON_MS + takenS * SECOND_MS, readMs, NOON_MS + known(readS) * SECOND_MS) / SECOND_MS
    })
    for (const [i, [, , expected]] of messages.entries()) {
      t.ok(Math.abs(steps[i]! - expected) <= 1, `message ${i + 1}: ${steps[i]} s, ${expected} expected`)
    }
  })
}

t.test('a clock is set by whole milliseconds, although the monotonic clock is more exact', async t => {
  for (const stepMs of [-HOUR_MS, HOUR_MS]) {
    const time = createStreamClock(NOON_MS, 0.444)
    detectClockStep(time, NOON_MS, 0.444, NOON_MS)
    const readMs = 1_000.888
    // the new time is known before a message shows it, so the offset keeps its fraction
    const step = detectClockStep(time, NOON_MS + 1_000 + stepMs, readMs, NOON_MS + readMs + stepMs)
    t.ok(Number.isInteger(step), `${step}`)
    t.ok(Math.abs(step - stepMs) <= 2, 'and by what it was set')
  }
})

t.test('results with the old time count for a minute after a clock was set back', async t => {
  const time = createStreamClock(NOON_MS, 0)
  const read = (readMs: number, takenMs: number) => {
    detectClockStep(time, NOON_MS + takenMs, readMs, NOON_MS + readMs)
    return computeTolerance(time, NOON_MS + takenMs, readMs).futureMs
  }
  t.equal(read(0, 0), 5_000)
  t.equal(read(1_000, 1_000 - HOUR_MS), HOUR_MS + 5_000)
  t.equal(read(60_000, 60_000 - HOUR_MS), HOUR_MS + 5_000)
  t.equal(read(62_000, 62_000 - HOUR_MS), 5_000)
})

t.test('a high-water mark is compared with the present, however late a message is read', async t => {
  const time = createStreamClock(NOON_MS, 0)
  detectClockStep(time, NOON_MS, 0, NOON_MS)
  t.equal(computeTolerance(time, NOON_MS, 0).highWaterMarkMs, 5_000)
  t.equal(computeTolerance(time, NOON_MS, 90_000).highWaterMarkMs, 95_000)
})
