import type { CancelTimer, Machine } from '../../probe-agent/clock.ts'
import type { Random } from '../chaos/random.ts'

/** Virtual time. It advances from one timer to the next. In ms since the beginning of the simulation. */
export type Time = {
  nowMs: () => number
  after: (ms: number, work: () => void) => CancelTimer
  /** Call it when a promise was settled: its continuations run before the next timer. `turns`: for deeply nested ones. */
  settled: (turns?: number) => void
  /** Advances the time. All timers that are due fire in order. */
  pass: (untilMs: number) => Promise<void>
  /** number of timers that have fired */
  fired: () => number
}

type Timer = { dueMs: number; number: number; work: (() => void) | null }

/** Number of microtask turns after which nested continuations of a promise have run. */
const TURNS = 4
/** Number of timers after which the real event loop gets a turn, so that signals and test timeouts can end a run. */
const FIRED_A_TURN = 10_000

export function createTime(): Time {
  const heap: Timer[] = []
  let nowMs = 0
  let number = 0
  let fired = 0
  let turnsDue = 0

  function push(timer: Timer): void {
    let place = heap.length
    while (place > 0) {
      const above = heap[(place - 1) >> 1]!
      if (isBefore(above, timer)) break
      heap[place] = above
      place = (place - 1) >> 1
    }
    heap[place] = timer
  }

  function pop(): Timer {
    const first = heap[0]!
    const last = heap.pop()!
    const { length } = heap
    if (length === 0) return first
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= length) break
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = last
    return first
  }

  return {
    nowMs: () => nowMs,
    fired: () => fired,
    settled(turns = TURNS) {
      turnsDue = Math.max(turnsDue, turns)
    },
    after(ms, work) {
      const timer: Timer = { dueMs: nowMs + Math.max(0, ms), number: ++number, work }
      push(timer)
      return () => {
        timer.work = null
      }
    },
    async pass(untilMs) {
      while (heap.length > 0 && heap[0]!.dueMs <= untilMs) {
        const { dueMs, work } = pop()
        if (work === null) continue
        nowMs = dueMs
        fired++
        if (fired % FIRED_A_TURN === 0) await new Promise(setImmediate)
        work()
        if (turnsDue === 0) continue
        const turns = turnsDue
        turnsDue = 0
        for (let turn = 0; turn < turns; turn++) await null
      }
      nowMs = untilMs
    },
  }
}

const isBefore = (a: Timer, b: Timer) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.number < b.number)

/** A process. Its timers do not fire after it has ended or while it is frozen. */
export type Host = {
  machine: Machine
  isAlive: () => boolean
  isRunning: () => boolean
  end: () => void
  /** Stops all timers until then. Timers that were due meanwhile fire directly afterwards. */
  freeze: (untilMs: number) => void
}

export function createHost(time: Time, random: Random): Host {
  let isAlive = true
  let frozenUntilMs = 0

  function after(ms: number, work: () => void): CancelTimer {
    let cancel = time.after(ms, function fire() {
      if (!isAlive) return
      if (time.nowMs() < frozenUntilMs) cancel = time.after(frozenUntilMs - time.nowMs(), fire)
      else work()
    })
    return () => cancel()
  }

  const machine: Machine = {
    monotonicMs: time.nowMs,
    believedMs: time.nowMs,
    random: () => random.between(0, 1e9) / (1e9 + 1),
    uuid: () => newUuid(random) as ReturnType<Machine['uuid']>,
    secret: () => newUuid(random),
    after,
    soon: work => void after(0, work),
    every(ms, work) {
      let cancel: CancelTimer = after(ms, function again() {
        cancel = after(ms, again)
        work()
      })
      return () => cancel()
    },
    pause: ms =>
      new Promise(resolve => {
        after(ms, () => {
          resolve()
          time.settled()
        })
      }),
  }
  return {
    machine,
    isAlive: () => isAlive,
    isRunning: () => isAlive && time.nowMs() >= frozenUntilMs,
    end() {
      isAlive = false
    },
    freeze(untilMs) {
      frozenUntilMs = Math.max(frozenUntilMs, untilMs)
    },
  }
}

/** An id with the format of UUID version 7. */
export function newUuid(random: Random): string {
  const part = () => random.between(0, 0xffff).toString(16).padStart(4, '0')
  return `${part()}${part()}-${part()}-7${part().slice(1)}-8${part().slice(1)}-${part()}${part()}${part()}`
}
