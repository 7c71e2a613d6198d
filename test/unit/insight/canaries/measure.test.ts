import t from 'tap'
import { type CanaryFacts, measureOutage } from '../../../../control-plane/insight/canaries/measurement/measure.ts'

const startedAt = new Date('2026-11-21T10:00:00Z')
/** seconds after the start of the failure, which lasts 180 s */
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1_000)
const outage = { kind: 'status' as const, startedAt, endedAt: after(180), settledAt: after(600) }

/** "down@34 up@210": times of commit. The decision is half a second earlier, the first failure 4 s earlier. */
const changes = (text: string): CanaryFacts['changes'] =>
  parts(text).map(([to, at]) => ({
    to: to === 'none' ? null : (to as 'up' | 'down' | 'degraded'),
    at: after(at - 0.5),
    committedAt: after(at),
    firstFailureAt: to === 'down' ? after(at - 4) : null,
  }))

/** The same for alerts: times of arrival. The reported change was decided a second earlier. */
const alerts = (text: string): CanaryFacts['alerts'] =>
  parts(text).map(([to, at]) => ({ event: `monitor.${to}`, at: after(at - 1), receivedAt: after(at) }))

const parts = (text: string) =>
  text
    .split(' ')
    .filter(part => part !== '')
    .map(part => [part.split('@')[0]!, Number(part.split('@')[1])] as const)

const measured = (changed: string, alerted: string, wasPaused = false) =>
  measureOutage(outage, { wasPaused, wasUp: true, changes: changes(changed), alerts: alerts(alerted) })
const outcome = (...given: Parameters<typeof measured>) => measured(...given).outcome

t.test('A reported failure has the time of each stage', async t => {
  t.same(measured('down@34 up@210', 'down@34.5 up@210.5'), {
    outcome: 'reported',
    stages: [
      { turn: 'down', stage: 'result', seconds: 30 },
      { turn: 'down', stage: 'status', seconds: 34 },
      { turn: 'down', stage: 'alert', seconds: 34.5 },
      { turn: 'up', stage: 'status', seconds: 30 },
      { turn: 'up', stage: 'alert', seconds: 30.5 },
    ],
  })
})

t.test('Each planned failure has one outcome', async t => {
  const rows: [string, string, string][] = [
    ['reported', 'down@90 up@270', 'down@90 up@270'],
    ['late', 'down@34 up@210', 'down@91 up@211'],
    ['late', 'down@34 up@210', 'down@35 up@271'],
    ['twice', 'down@34 up@210', 'down@35 down@36 up@211'],
    ['twice', 'down@34 up@210', 'down@35 up@211 up@300'],
    ['missed', '', ''],
    ['missed', 'down@34', 'down@35'],
    ['missed', 'down@34 up@210', 'up@211'],
    ['missed', 'down@34 up@210', 'down@35'],
    ['missed', 'up@190', 'up@191'],
    ['missed', 'degraded@34 up@210', ''],
  ]
  for (const [expected, changed, alerted] of rows) {
    t.equal(outcome(changed, alerted), expected, `${changed} / ${alerted}`)
  }
})

t.test('A flapping status ends with the last recovery', async t => {
  const { outcome, stages } = measured('down@34 up@60 down@100 up@215', 'down@35 up@61 down@101 up@216')
  t.equal(outcome, 'twice')
  t.same(
    stages.filter(({ stage }) => stage === 'status').map(({ seconds }) => seconds),
    [34, 35],
  )
})

t.test('Events after the settling of a failure count as missed', async t => {
  t.equal(outcome('down@34 up@599', 'down@35 up@599'), 'late')
  t.same(measured('down@601 up@602', 'down@601 up@602'), { outcome: 'missed', stages: [] })
  t.equal(outcome('down@34 up@210', 'down@35 up@601'), 'missed')
})

t.test('A recovery from an earlier failure does not count', async t => {
  t.equal(outcome('up@2 down@34 up@210', 'up@3 down@35 up@211'), 'reported')
})

t.test('A paused canary is not measured', async t => {
  t.same(measured('', '', true), { outcome: 'unmeasured', stages: [] })
  t.same(measured('down@34 none@40', 'down@35'), { outcome: 'unmeasured', stages: [] })
})

t.test('Clock differences never give a negative duration', async t => {
  const { stages } = measured('down@3 up@179', 'down@4 up@179.5')
  t.same(
    stages.map(({ seconds }) => seconds),
    [0, 3, 4, 0, 0],
  )
})
