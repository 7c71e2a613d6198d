import t from 'tap'
import { monotonicMs, sleep } from '../../../../control-plane/foundation/platform/time/clock.ts'
import {
  computeFirstDelayMs,
  setCoalescedTimeout,
  sleepCoalesced,
} from '../../../../control-plane/foundation/platform/time/coalesced-timers.ts'

const BEAT_MS = 500
const inTwoBeatsMs = () => (Math.ceil(monotonicMs() / BEAT_MS) + 2) * BEAT_MS

t.test('Waits that end near the same tick end together', async t => {
  const atMs = inTwoBeatsMs()
  const turns: number[] = []
  let turn = 0
  const note = () => {
    turns.push(turn)
    queueMicrotask(() => turn++)
  }
  const late = new Promise<void>(resolve => {
    setCoalescedTimeout(atMs - monotonicMs() + 200, () => {
      note()
      resolve()
    })
  })
  setCoalescedTimeout(atMs - monotonicMs() - 200, note)
  setCoalescedTimeout(atMs - monotonicMs(), note)()
  await late
  // listeners may run in any order
  await sleep(0)
  t.same(turns, [0, 0], 'both in one turn, and the one that was cancelled not at all')
  t.ok(monotonicMs() >= atMs - 1)
})

t.test('A listener can cancel another one on the same tick', async t => {
  const atMs = inTwoBeatsMs()
  const called: string[] = []
  const cancels: (() => void)[] = []
  const ended = new Promise<void>(resolve => {
    setCoalescedTimeout(atMs - monotonicMs(), () => {
      called.push('first')
      cancels[0]!()
      resolve()
    })
  })
  cancels.push(setCoalescedTimeout(atMs - monotonicMs(), () => called.push('second')))
  await ended
  await sleep(0)
  t.same(called, ['first'])
})

t.test('A wait ends on the next tick at the earliest, and immediately when it is aborted', async t => {
  const beforeMs = monotonicMs()
  await sleepCoalesced(0)
  t.not(Math.floor((monotonicMs() + 1) / BEAT_MS), Math.floor(beforeMs / BEAT_MS), 'a beat has passed')
  const ending = new AbortController()
  const waiting = sleepCoalesced(3_600_000, ending.signal)
  ending.abort()
  await waiting
  await sleepCoalesced(3_600_000, AbortSignal.abort())
})

t.test(
  'Loops that start together spread over the ticks of their interval, and no first wait is much shorter',
  async t => {
    const firstWaits = (intervalMs: number) => Array.from({ length: 40 }, () => computeFirstDelayMs(intervalMs))
    for (const intervalMs of [1_000, 2_000, 5_000]) {
      t.equal(new Set(firstWaits(intervalMs)).size, intervalMs / BEAT_MS)
      t.ok(firstWaits(intervalMs).every(ms => ms >= BEAT_MS && ms <= intervalMs))
    }
    t.ok(firstWaits(3_600_000).every(ms => ms > 3_590_000 && ms <= 3_600_000))
  },
)
