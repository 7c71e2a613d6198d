import t from 'tap'
import {
  applyMonitor,
  createAssignmentTable,
  applyLiveSet as enterInTurns,
  findAssignedMonitor,
  listChangesForProbe,
} from '../../../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import {
  expireDeletions,
  type IndexedMonitor,
  isExpiredDeletion,
  listChangedSince,
  recordDeletion,
  skipExpiredDeletion,
  toInactiveMonitor,
} from '../../../../control-plane/monitoring/fleet/assignments/monitor-index.ts'

const entry = (id: string, revision: number, regions = ['eu-west']): IndexedMonitor => ({
  ...{ id, revision, regions, configVersion: 1, intervalS: 30, retryCount: 0, tenant: 1, sizeBytes: 100 },
  spec: {
    ...{ type: 'http', url: 'https://a.example', method: 'GET', headers: {}, timeoutMs: 1_000, assertions: [] },
    ...{ keywordType: 'contains', sslCheck: false },
    ...{ screenshotOnFailure: false, screenshotCompare: false, screenshotThreshold: 0.05 },
  },
})

/** All turns at once. */
const enterEpoch = (...args: Parameters<typeof enterInTurns>) => [...enterInTurns(...args)].flat()

const CHECKS = ['http', 'keyword', 'tcp']
const live = (...ids: string[]) => ids.map(id => ({ id, capabilities: CHECKS }))

const unchecked = (id: string, revision: number) => toInactiveMonitor({ id, revision, configVersion: 1 })

t.test('whoever has to hear of a change is named, and nobody else', async t => {
  const assignments = createAssignmentTable()
  t.same(applyMonitor(assignments, entry('m1', 1, ['eu-west', 'us-east'])), [], 'nobody is live')
  t.same(enterEpoch(assignments, { region: 'eu-west', epoch: 1, probes: live('p') }), [
    { probeId: 'p', monitorId: 'm1', why: 'moved' },
  ])
  enterEpoch(assignments, { region: 'us-east', epoch: 1, probes: live('q') })
  const tellP = { probeId: 'p', monitorId: 'm1', why: 'changed' }
  const tellQ = { probeId: 'q', monitorId: 'm1', why: 'changed' }
  t.same(applyMonitor(assignments, entry('m1', 2, ['eu-west', 'us-east'])), [tellP, tellQ])
  t.same(applyMonitor(assignments, entry('m1', 3)), [tellQ, tellP], 'the region that was dropped too')
  t.equal(findAssignedMonitor(assignments, 'us-east', 'q', 'm1'), null)
  t.equal(findAssignedMonitor(assignments, 'eu-west', 'p', 'm1')?.revision, 3)
  t.same(applyMonitor(assignments, unchecked('m1', 4)), [tellP])
  t.same(applyMonitor(assignments, unchecked('m1', 5)), [], 'nobody has it any more')
  t.same(enterEpoch(assignments, { region: 'eu-west', epoch: 1, probes: [] }), [], 'an old epoch changes nothing')
})

t.test('a probe that comes back hears of its own monitors, and of those that were its own', async t => {
  const assignments = createAssignmentTable()
  enterEpoch(assignments, { region: 'eu-west', epoch: 1, probes: live('p', 'q') })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) applyMonitor(assignments, entry(id, i + 1))
  const mine = ids.filter(id => findAssignedMonitor(assignments, 'eu-west', 'p', id))
  for (const [i, id] of ids.entries()) applyMonitor(assignments, i % 2 ? unchecked(id, 100 + i) : entry(id, 100 + i))
  t.ok(mine.length > 5 && mine.length < 35)
  t.same(listChangesForProbe(assignments, 'eu-west', 'p', 40), mine)
  t.same(listChangesForProbe(assignments, 'eu-west', 'p', 140), [])
})

t.test('a monitor that became one of a type that its probe cannot check moves, and both probes hear of it', async t => {
  const assignments = createAssignmentTable()
  const dns = (id: string, revision: number) => ({
    ...entry(id, revision),
    spec: { ...entry(id, 1).spec!, type: 'dns' },
  })
  const probes = [...live('old'), { id: 'new', capabilities: [...CHECKS, 'dns'] }]
  enterEpoch(assignments, { region: 'eu-west', epoch: 1, probes })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) applyMonitor(assignments, entry(id, i + 1))
  const id = ids.find(id => findAssignedMonitor(assignments, 'eu-west', 'old', id))!
  t.same(applyMonitor(assignments, dns(id, 100)), [
    { probeId: 'new', monitorId: id, why: 'changed' },
    { probeId: 'old', monitorId: id, why: 'changed' },
  ])
  t.ok(findAssignedMonitor(assignments, 'eu-west', 'new', id))
  t.same(listChangesForProbe(assignments, 'eu-west', 'old', 40), [id], 'also when it was away meanwhile')
  t.same(listChangesForProbe(assignments, 'eu-west', 'new', 40), [id])
})

t.test('changes since a revision name each monitor once, however often it changed', async t => {
  const { monitors: monitorIndex, ...assignments } = createAssignmentTable()
  for (let revision = 1; revision <= 5_000; revision++) {
    applyMonitor({ monitors: monitorIndex, ...assignments }, entry(`m${revision % 7}`, revision))
  }
  t.equal(listChangedSince(monitorIndex, 0).length, 7)
  t.same(listChangedSince(monitorIndex, 4_998), ['m1', 'm2'])
  t.same(listChangedSince(monitorIndex, 5_000), [])
  t.ok(monitorIndex.log.length < 2_000, 'what is outdated does not pile up')
})

t.test('a deletion is forgotten after a day', async t => {
  const now = Date.UTC(2026, 0, 2)
  t.ok(isExpiredDeletion({ deletedAt: new Date(now - 25 * 3_600_000) }, now))
  t.notOk(isExpiredDeletion({ deletedAt: new Date(now - 23 * 3_600_000) }, now))
  t.notOk(isExpiredDeletion({ deletedAt: null }, now))
  const { monitors: monitorIndex } = createAssignmentTable()
  skipExpiredDeletion(monitorIndex, { id: 'm1', revision: 8 })
  t.match(monitorIndex, { revision: 8, compactedRevision: 8 })
})

t.test('a deleted monitor leaves the memory after a day; a probe that was away for longer gets a snapshot', async t => {
  const now = Date.UTC(2026, 0, 2)
  const assignments = createAssignmentTable()
  applyMonitor(assignments, entry('kept', 1))
  for (const [i, id] of ['old', 'new', 'back'].entries()) {
    applyMonitor(assignments, unchecked(id, i + 2))
    const hoursAgo = id === 'new' ? 23 : 25
    recordDeletion(assignments.monitors, { id, revision: i + 2, deletedAt: new Date(now - hoursAgo * 3_600_000) })
  }
  expireDeletions(assignments.monitors, now)
  t.same(
    [...assignments.monitors.entries.keys()],
    ['kept', 'new', 'back'],
    'in the order of revisions, none before its time',
  )
  t.equal(assignments.monitors.compactedRevision, 2)
  applyMonitor(assignments, entry('back', 9))
  expireDeletions(assignments.monitors, now + 48 * 3_600_000)
  t.same([...assignments.monitors.entries.keys()], ['kept', 'back'], 'one that is there again stays')
  t.same(assignments.monitors.deleted, [])
})
