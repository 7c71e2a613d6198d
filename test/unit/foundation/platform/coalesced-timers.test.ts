import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { monotonicMs } from '../../../../control-plane/foundation/platform/time/clock.ts'
import {
  computeFirstDelayMs,
  setAlignedTimeout,
  setCoalescedTimeout,
  sleepCoalesced,
} from '../../../../control-plane/foundation/platform/time/coalesced-timers.ts'

const BEAT_MS = 500

/** Sets timers relative to a tick, and sets them again when the machine stalled meanwhile. Returns the time of the tick. */
function setAroundTick(set: (fromTick: (ms: number) => number) => (() => void)[]): number {
  for (;;) {
    const startedMs = monotonicMs()
    const atMs = (Math.ceil(startedMs / BEAT_MS) + 2) * BEAT_MS
    const cancels = set(ms => atMs - monotonicMs() + ms)
    if (monotonicMs() - startedMs < 20) return atMs
    for (const cancel of cancels) cancel()
  }
}

t.test('Waits that end near the same tick end together', async t => {
  const turns: number[] = []
  let turnCount = 0
  const note = () => {
    turns.push(turnCount)
    queueMicrotask(() => turnCount++)
  }
  let atMs = 0
  await new Promise<void>(resolve => {
    const last = () => {
      note()
      resolve()
    }
    atMs = setAroundTick(fromTick => {
      const cancels = [setCoalescedTimeout(fromTick(200), last), setCoalescedTimeout(fromTick(-200), note)]
      setCoalescedTimeout(fromTick(0), note)()
      return cancels
    })
  })
  // listeners may run in any order
  await turn()
  t.same(turns, [0, 0], 'both in one turn, and the one that was cancelled not at all')
  t.ok(monotonicMs() >= atMs - 1)
})

t.test('A listener can cancel another one on the same tick', async t => {
  const called: string[] = []
  await new Promise<void>(resolve => {
    let cancelSecond = () => {}
    const first = () => {
      called.push('first')
      cancelSecond()
      resolve()
    }
    setAroundTick(fromTick => {
      const cancelFirst = setCoalescedTimeout(fromTick(0), first)
      cancelSecond = setCoalescedTimeout(fromTick(0), () => called.push('second'))
      return [cancelFirst, cancelSecond]
    })
  })
  await turn()
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

t.test('Aligned waits end together, whenever they began, also with waits of twice the length', async t => {
  const ends: { name: string; turn: number }[] = []
  let turnCount = 0
  const wait = (name: string, beats: number) =>
    new Promise<void>(resolve => {
      setAlignedTimeout(beats * BEAT_MS, () => {
        ends.push({ name, turn: turnCount })
        queueMicrotask(() => turnCount++)
        resolve()
      })
    })
  const findTurn = (name: string) => ends.findLast(end => end.name === name)?.turn
  setAlignedTimeout(BEAT_MS, () => ends.push({ name: 'cancelled', turn: 0 }))()
  let early = wait('early', 4)
  await sleepCoalesced(BEAT_MS)
  while (ends.length > 0) {
    // it ended before another one could begin
    ends.length = 0
    early = wait('early', 4)
    await sleepCoalesced(BEAT_MS)
  }
  const others = [wait('late', 4), wait('long', 8)]
  while (findTurn('long') === undefined) await wait('short', 4)
  await Promise.all([early, ...others])
  await turn()
  t.equal(findTurn('late'), findTurn('early'))
  t.equal(findTurn('long'), findTurn('short'))
  t.notOk(ends.some(({ name }) => name === 'cancelled'))
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
