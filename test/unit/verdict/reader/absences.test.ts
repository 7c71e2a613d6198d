import t from 'tap'
import {
  loadMonitor,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import {
  applyAbsences,
  createKnownAbsences,
  isReadAfterStep,
  updateAbsences,
} from '../../../../control-plane/verdict/reader/live-sets/absences.ts'
import type { RegionEpochRow } from '../../../../control-plane/verdict/reader/live-sets/live-sets-store.ts'

const row = (absentForMs: number | null, backForMs: number | null = null, name = 'first'): RegionEpochRow => ({
  region: 'eu-west',
  epoch: 1,
  absentFrom: absentForMs === null ? null : name,
  absentUntil: backForMs === null ? null : `${name} ended`,
  absentForMs,
  backForMs,
})
const at = (second: number, logAheadS = 1_000_000) => ({
  logMs: (second + logAheadS) * 1_000,
  monotonicMs: second * 1_000,
})
/** In seconds of the monotonic clock, with the usual difference to JetStream's. */
const shown = ({ absences }: ReturnType<typeof createKnownAbsences>) => {
  const absence = absences.get('eu-west')
  return absence ? [absence.fromMs / 1_000 - 1_000_000, absence.untilMs / 1_000 - 1_000_000] : null
}

t.test('an absence is computed from its age and keeps its time', async t => {
  const first = updateAbsences(createKnownAbsences(), [row(10_000)], at(100))
  t.same(shown(first), [90, Infinity])
  const next = updateAbsences(first, [row(12_003)], at(102))
  t.equal(next.absences, first.absences, 'the same map')
  const back = updateAbsences(next, [row(20_000, 1_000)], at(110))
  t.same(shown(back), [90, 109])
  t.same(shown(updateAbsences(back, [row(5_000, null, 'second')], at(200))), [195, Infinity], 'another one')
  t.same(shown(updateAbsences(back, [row(null)], at(200))), null, 'it was long ago')
})

t.test('a step of PostgreSQL’s clock does not move a known absence', async t => {
  const first = updateAbsences(createKnownAbsences(), [row(10_000)], at(100))
  for (const hour of [-3_600_000, 3_600_000]) {
    t.equal(updateAbsences(first, [row(12_000 + hour)], at(102)).absences, first.absences)
    t.same(shown(updateAbsences(first, [row(20_000 + hour, 1_000)], at(110))), [90, 109])
  }
})

t.test('a process that starts after PostgreSQL was set back counts an absence that continues from now', async t => {
  t.same(shown(updateAbsences(createKnownAbsences(), [row(-3_590_000)], at(100))), [100, Infinity])
  t.equal(
    shown(updateAbsences(createKnownAbsences(), [row(-3_500_000, -3_590_000)], at(100))),
    null,
    'and none that has ended',
  )
})

t.test('an absence moves with JetStream’s clock', async t => {
  const first = updateAbsences(createKnownAbsences(), [row(10_000)], at(100))
  const after = updateAbsences(first, [row(12_000)], at(102, 1_003_600))
  t.same(shown(after), [90 + 3_600, Infinity])
  t.same(shown(updateAbsences(after, [row(14_000)], at(104, 1_003_600))), [90 + 3_600, Infinity], 'once')
  t.notOk(isReadAfterStep(first, 99_000), 'read before the process knew the new time')
  t.ok(isReadAfterStep(after, 96_000))
})

t.test('a monitor gets the absences of its own regions', async t => {
  const memory: TrackedMonitors = new Map()
  const settings = { configVersion: 1, streaksSince: 1, retryCount: 0, intervalSeconds: 30, timeoutMs: 5_000 }
  for (const [id, regions] of [
    ['both', ['us-east', 'eu-west']],
    ['one', ['us-east']],
  ] as [string, string[]][]) {
    const stored = { id, ...settings, regions, status: null, isPaused: false, isDeleted: false, state: null }
    loadMonitor(memory, id, stored, { lookedForVersion: 1, isDiscarded: false })
  }
  const before = memory.get('both')!.policy
  applyAbsences(memory, updateAbsences(createKnownAbsences(), [row(10_000)], at(100)).absences)
  t.same([...memory.get('both')!.policy!.absences!.keys()], ['eu-west'])
  t.equal(memory.get('one')!.policy!.absences, undefined)
  applyAbsences(memory, new Map())
  t.equal(memory.get('both')!.policy, before, 'as before')
})
