import t from 'tap'
import {
  applyLiveSet as applyInSteps,
  applyMonitor,
  createAssignmentTable,
  findAssignedMonitor,
  listChangesForProbe,
} from '../../../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import {
  expireDeletions,
  hasSameAssignment,
  type IndexedMonitor,
  isExpiredDeletion,
  listChangedSince,
  recordDeletion,
  skipExpiredDeletion,
  toInactiveMonitor,
} from '../../../../control-plane/monitoring/fleet/assignments/monitor-index.ts'
import { buildSyncQueue } from '../../../../control-plane/monitoring/fleet/sessions/session.ts'
import type { Hello } from '../../../../proto/gen/probe/v1/fleet.ts'

const entry = (id: string, revision: number, regions = ['eu-west']): IndexedMonitor => ({
  ...{ id, revision, regions, configVersion: 1, intervalS: 30, retryCount: 0, tenant: 1, sizeBytes: 100 },
  spec: {
    ...{ type: 'http', url: 'https://a.example', method: 'GET', headers: {}, timeoutMs: 1_000, assertions: [] },
    ...{ keywordType: 'contains', sslCheck: false },
    ...{ screenshotOnFailure: false, screenshotCompare: false, screenshotThreshold: 0.05 },
  },
})

/** Runs all steps. */
const applyEpoch = (...args: Parameters<typeof applyInSteps>) => [...applyInSteps(...args)].flat()

const CHECKS = ['http', 'keyword', 'tcp']
const live = (...ids: string[]) => ids.map(id => ({ id, capabilities: CHECKS }))

const inactive = (id: string, revision: number) => toInactiveMonitor({ id, revision, configVersion: 1 })

t.test('A change notifies exactly the probes that it concerns', async t => {
  const assignments = createAssignmentTable()
  t.same(applyMonitor(assignments, entry('m1', 1, ['eu-west', 'us-east'])), [], 'no probe is live')
  t.same(applyEpoch(assignments, { region: 'eu-west', epoch: 1, probes: live('p') }), [
    { probeId: 'p', monitorId: 'm1', why: 'moved' },
  ])
  applyEpoch(assignments, { region: 'us-east', epoch: 1, probes: live('q') })
  const toP = { probeId: 'p', monitorId: 'm1', why: 'changed' }
  const toQ = { probeId: 'q', monitorId: 'm1', why: 'changed' }
  t.same(applyMonitor(assignments, entry('m1', 2, ['eu-west', 'us-east'])), [toP, toQ])
  t.same(applyMonitor(assignments, entry('m1', 3)), [toQ, toP], 'the former region too')
  t.equal(findAssignedMonitor(assignments, 'us-east', 'q', 'm1'), null)
  t.equal(findAssignedMonitor(assignments, 'eu-west', 'p', 'm1')?.revision, 3)
  t.same(applyMonitor(assignments, inactive('m1', 4)), [toP])
  t.same(applyMonitor(assignments, inactive('m1', 5)), [], 'no probe has it')
  t.same(applyEpoch(assignments, { region: 'eu-west', epoch: 1, probes: [] }), [], 'an old epoch changes nothing')
})

t.test('A probe that reconnects gets its own monitors and its former ones', async t => {
  const assignments = createAssignmentTable()
  applyEpoch(assignments, { region: 'eu-west', epoch: 1, probes: live('p', 'q') })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) applyMonitor(assignments, entry(id, i + 1))
  const mine = ids.filter(id => findAssignedMonitor(assignments, 'eu-west', 'p', id))
  for (const [i, id] of ids.entries()) applyMonitor(assignments, i % 2 ? inactive(id, 100 + i) : entry(id, 100 + i))
  t.ok(mine.length > 5 && mine.length < 35)
  t.same(listChangesForProbe(assignments, 'eu-west', 'p', 40), mine)
  t.same(listChangesForProbe(assignments, 'eu-west', 'p', 140), [])
})

t.test(
  'A probe that reconnects while a live set is applied gets the monitors that have already moved to it',
  async t => {
    const assignments = createAssignmentTable()
    applyEpoch(assignments, { region: 'eu-west', epoch: 1, probes: live('p', 'q') })
    const ids = Array.from({ length: 1_200 }, (_, i) => `m${i}`)
    for (const [i, id] of ids.entries()) applyMonitor(assignments, entry(id, i + 1))
    const steps = applyInSteps(assignments, { region: 'eu-west', epoch: 2, probes: live('p') })
    const moved = (steps.next().value as { monitorId: string }[]).map(({ monitorId }) => monitorId)
    t.ok(moved.length > 0)
    const hello = { lastRevision: 1_200, lastEpoch: 1 } as Hello
    const { snapshot } = buildSyncQueue(assignments, 'eu-west', 'p', hello)
    t.same(
      moved.filter(id => !snapshot?.ids.includes(id)),
      [],
    )
    for (const _ of steps);
    t.equal(buildSyncQueue(assignments, 'eu-west', 'p', { ...hello, lastEpoch: 2 }).snapshot, null, 'a delta is enough')
  },
)

t.test('A monitor whose new type its probe cannot check moves, and both probes are notified', async t => {
  const assignments = createAssignmentTable()
  const dns = (id: string, revision: number) => ({
    ...entry(id, revision),
    spec: { ...entry(id, 1).spec!, type: 'dns' },
  })
  const probes = [...live('old'), { id: 'new', capabilities: [...CHECKS, 'dns'] }]
  applyEpoch(assignments, { region: 'eu-west', epoch: 1, probes })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) applyMonitor(assignments, entry(id, i + 1))
  const id = ids.find(id => findAssignedMonitor(assignments, 'eu-west', 'old', id))!
  t.same(applyMonitor(assignments, dns(id, 100)), [
    { probeId: 'new', monitorId: id, why: 'changed' },
    { probeId: 'old', monitorId: id, why: 'changed' },
  ])
  t.ok(findAssignedMonitor(assignments, 'eu-west', 'new', id))
  t.same(listChangesForProbe(assignments, 'eu-west', 'old', 40), [id], 'even when it was disconnected at that time')
  t.same(listChangesForProbe(assignments, 'eu-west', 'new', 40), [id])
})

t.test('Changes since a revision contain each monitor once', async t => {
  const { monitors: monitorIndex, ...assignments } = createAssignmentTable()
  for (let revision = 1; revision <= 5_000; revision++) {
    applyMonitor({ monitors: monitorIndex, ...assignments }, entry(`m${revision % 7}`, revision))
  }
  t.equal(listChangedSince(monitorIndex, 0).length, 7)
  t.same(listChangedSince(monitorIndex, 4_998), ['m1', 'm2'])
  t.same(listChangedSince(monitorIndex, 5_000), [])
  t.ok(monitorIndex.log.length < 2_000, 'outdated entries are removed')
})

t.test('A deletion expires after a day', async t => {
  const now = Date.UTC(2026, 0, 2)
  t.ok(isExpiredDeletion({ deletedAt: new Date(now - 25 * 3_600_000) }, now))
  t.notOk(isExpiredDeletion({ deletedAt: new Date(now - 23 * 3_600_000) }, now))
  t.notOk(isExpiredDeletion({ deletedAt: null }, now))
  const { monitors: monitorIndex } = createAssignmentTable()
  skipExpiredDeletion(monitorIndex, { id: 'm1', revision: 8 })
  t.match(monitorIndex, { revision: 8, compactedRevision: 8 })
})

t.test(
  'A deleted monitor leaves memory after a day, and a probe that was disconnected for longer gets a snapshot',
  async t => {
    const now = Date.UTC(2026, 0, 2)
    const assignments = createAssignmentTable()
    applyMonitor(assignments, entry('kept', 1))
    for (const [i, id] of ['old', 'new', 'back'].entries()) {
      applyMonitor(assignments, inactive(id, i + 2))
      const hoursAgo = id === 'new' ? 23 : 25
      recordDeletion(assignments.monitors, { id, revision: i + 2, deletedAt: new Date(now - hoursAgo * 3_600_000) })
    }
    expireDeletions(assignments.monitors, now)
    t.same(
      [...assignments.monitors.entries.keys()],
      ['kept', 'new', 'back'],
      'in the order of revisions, none too early',
    )
    t.equal(assignments.monitors.compactedRevision, 2)
    applyMonitor(assignments, entry('back', 9))
    expireDeletions(assignments.monitors, now + 48 * 3_600_000)
    t.same([...assignments.monitors.entries.keys()], ['kept', 'back'], 'a restored monitor stays')
    t.same(assignments.monitors.deleted, [])
  },
)

t.test('A monitor whose revision or times of requests differ has the same assignment', async t => {
  const known = entry('m1', 7)
  for (const changed of [{ revision: 9 }, { othersAskedMs: 5_000 }, { witnessAskedMs: 5_000 }])
    t.equal(hasSameAssignment({ ...known, ...changed }, entry('m1', 7)), true, JSON.stringify(changed))
  for (const changed of [{ configVersion: 2 }, { regions: ['us-east'] }, { witness: 'whole' as const }, { spec: null }])
    t.equal(hasSameAssignment({ ...known, ...changed }, entry('m1', 7)), false, JSON.stringify(changed))
})
