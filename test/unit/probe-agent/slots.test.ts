import t from 'tap'
import { findFirstDue, findMissedSlots } from '../../../probe-agent/schedule/slots.ts'
import { computeSlots, findSlotFrom } from '../../../shared/checks/slots.ts'

const SLOTS = { phaseMs: 700, intervalMs: 30_000 }

t.test('A slot is at phase + k * interval', async t => {
  const rows: [fromMs: number, slotMs: number][] = [
    [0, 700],
    [700, 700],
    [701, 30_700],
    [30_700, 30_700],
    [1_800_000_000_000, 1_800_000_000_700],
    [1_800_000_000_700.4, 1_800_000_030_700],
  ]
  for (const [fromMs, slotMs] of rows) t.equal(findSlotFrom(SLOTS, fromMs), slotMs, `from ${fromMs}`)
})

t.test('Slots survive a restart and differ by monitor and region', async t => {
  t.same(computeSlots('m1', 'eu-west', 60), computeSlots('m1', 'eu-west', 60))
  t.not(computeSlots('m1', 'eu-west', 60).phaseMs, computeSlots('m1', 'us-east', 60).phaseMs)
  t.not(computeSlots('m1', 'eu-west', 60).phaseMs, computeSlots('m2', 'eu-west', 60).phaseMs)
})

t.test('Ten thousand monitors are spread evenly over their interval', async t => {
  const perSecond = new Array(30).fill(0)
  for (let i = 0; i < 10_000; i++) {
    const id = `01890a5d-ac96-774b-bcce-${String(i).padStart(12, '0')}`
    perSecond[Math.floor(computeSlots(id, 'eu-west', 30).phaseMs / 1000)]++
  }
  t.ok(Math.max(...perSecond) < 450, `at most ${Math.max(...perSecond)} in a second, 333 on average`)
  t.ok(Math.min(...perSecond) > 220, `at least ${Math.min(...perSecond)}`)
})

t.test('A check that cannot start within its interval is missed, and the oldest usable slot is next', async t => {
  const rows: [dueMs: number, nowMs: number, missed: number[], next: number][] = [
    [700, 700, [], 700],
    [700, 30_699, [], 700],
    [700, 30_700, [700], 30_700],
    [700, 95_000, [700, 30_700, 60_700], 90_700],
    // After a check on demand, the slots remain those of the monitor.
    [5000, 40_000, [5000], 30_700],
  ]
  for (const [dueMs, nowMs, missed, next] of rows) t.same(findMissedSlots(SLOTS, dueMs, nowMs), { missed, next })
})

t.test('A monitor with a long interval is checked again soon after it moved, if its last slot is recent', async t => {
  const hourly = { phaseMs: 0, intervalMs: 3_600_000 }
  const [hour, s] = [3_600_000, 1_000]
  const rows: [string, intervalMs: number, sinceSlotMs: number, dueMs: number, chainMs?: number][] = [
    ['in its slot', hour, 0, 0],
    ['just after its slot: last', hour, 1, 30 * s],
    ['half way', hour, 60 * s, 15 * s],
    ['two minutes after its slot: at once', hour, 120 * s, 0],
    ['a slot that is not recent', hour, 121 * s, hour - 121 * s],
    ['two minutes: the next slot if that is sooner', 120 * s, 110 * s, 2_500],
    ['90 s', 90 * s, 80 * s, 10 * s],
    ['a minute: its next slot', 60 * s, 20 * s, 40 * s],
    ['30 s: its next slot', 30 * s, 20 * s, 10 * s],
    ['a slot whose chain may be unfinished', hour, 160 * s, 6 * s, 170 * s],
    ['just after the longest chain and the move', hour, 201 * s, hour - 201 * s, 170 * s],
  ]
  for (const [name, intervalMs, sinceSlotMs, dueMs, chainMs = 30 * s] of rows) {
    const nowMs = 720 * hour + sinceSlotMs
    t.equal(findFirstDue({ ...hourly, intervalMs }, chainMs, nowMs) - nowMs, dueMs, name)
  }
})
