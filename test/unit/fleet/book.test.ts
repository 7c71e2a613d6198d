import t from 'tap'
import {
  assignedEntry,
  changedFor,
  createBook,
  enterEpoch as enterInTurns,
  enterMonitor,
} from '../../../control-plane/fleet/book.ts'
import {
  changedSince,
  type Entry,
  forget,
  forgetDeleted,
  isForgotten,
  noteDeletion,
  uncheckedEntry,
} from '../../../control-plane/fleet/roster.ts'

const entry = (id: string, revision: number, regions = ['eu-west']): Entry => ({
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

const unchecked = (id: string, revision: number) => uncheckedEntry({ id, revision, configVersion: 1 })

t.test('whoever has to hear of a change is named, and nobody else', async t => {
  const book = createBook()
  t.same(enterMonitor(book, entry('m1', 1, ['eu-west', 'us-east'])), [], 'nobody is live')
  t.same(enterEpoch(book, { region: 'eu-west', epoch: 1, probes: live('p') }), [
    { probeId: 'p', monitorId: 'm1', why: 'moved' },
  ])
  enterEpoch(book, { region: 'us-east', epoch: 1, probes: live('q') })
  const tellP = { probeId: 'p', monitorId: 'm1', why: 'changed' }
  const tellQ = { probeId: 'q', monitorId: 'm1', why: 'changed' }
  t.same(enterMonitor(book, entry('m1', 2, ['eu-west', 'us-east'])), [tellP, tellQ])
  t.same(enterMonitor(book, entry('m1', 3)), [tellQ, tellP], 'the region that was dropped too')
  t.equal(assignedEntry(book, 'us-east', 'q', 'm1'), null)
  t.equal(assignedEntry(book, 'eu-west', 'p', 'm1')?.revision, 3)
  t.same(enterMonitor(book, unchecked('m1', 4)), [tellP])
  t.same(enterMonitor(book, unchecked('m1', 5)), [], 'nobody has it any more')
  t.same(enterEpoch(book, { region: 'eu-west', epoch: 1, probes: [] }), [], 'an old epoch changes nothing')
})

t.test('a probe that comes back hears of its own monitors, and of those that were its own', async t => {
  const book = createBook()
  enterEpoch(book, { region: 'eu-west', epoch: 1, probes: live('p', 'q') })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) enterMonitor(book, entry(id, i + 1))
  const mine = ids.filter(id => assignedEntry(book, 'eu-west', 'p', id))
  for (const [i, id] of ids.entries()) enterMonitor(book, i % 2 ? unchecked(id, 100 + i) : entry(id, 100 + i))
  t.ok(mine.length > 5 && mine.length < 35)
  t.same(changedFor(book, 'eu-west', 'p', 40), mine)
  t.same(changedFor(book, 'eu-west', 'p', 140), [])
})

t.test('a monitor that became one of a type that its probe cannot check moves, and both probes hear of it', async t => {
  const book = createBook()
  const dns = (id: string, revision: number) => ({
    ...entry(id, revision),
    spec: { ...entry(id, 1).spec!, type: 'dns' },
  })
  const probes = [...live('old'), { id: 'new', capabilities: [...CHECKS, 'dns'] }]
  enterEpoch(book, { region: 'eu-west', epoch: 1, probes })
  const ids = Array.from({ length: 40 }, (_, i) => `m${i}`)
  for (const [i, id] of ids.entries()) enterMonitor(book, entry(id, i + 1))
  const id = ids.find(id => assignedEntry(book, 'eu-west', 'old', id))!
  t.same(enterMonitor(book, dns(id, 100)), [
    { probeId: 'new', monitorId: id, why: 'changed' },
    { probeId: 'old', monitorId: id, why: 'changed' },
  ])
  t.ok(assignedEntry(book, 'eu-west', 'new', id))
  t.same(changedFor(book, 'eu-west', 'old', 40), [id], 'also when it was away meanwhile')
  t.same(changedFor(book, 'eu-west', 'new', 40), [id])
})

t.test('changes since a revision name each monitor once, however often it changed', async t => {
  const { roster, ...book } = createBook()
  for (let revision = 1; revision <= 5_000; revision++) {
    enterMonitor({ roster, ...book }, entry(`m${revision % 7}`, revision))
  }
  t.equal(changedSince(roster, 0).length, 7)
  t.same(changedSince(roster, 4_998), ['m1', 'm2'])
  t.same(changedSince(roster, 5_000), [])
  t.ok(roster.log.length < 2_000, 'what is outdated does not pile up')
})

t.test('a deletion is forgotten after a day', async t => {
  const now = Date.UTC(2026, 0, 2)
  t.ok(isForgotten({ deletedAt: new Date(now - 25 * 3_600_000) }, now))
  t.notOk(isForgotten({ deletedAt: new Date(now - 23 * 3_600_000) }, now))
  t.notOk(isForgotten({ deletedAt: null }, now))
  const { roster } = createBook()
  forget(roster, { id: 'm1', revision: 8 })
  t.match(roster, { revision: 8, floor: 8 })
})

t.test('a deleted monitor leaves the memory after a day; a probe that was away for longer gets a snapshot', async t => {
  const now = Date.UTC(2026, 0, 2)
  const book = createBook()
  enterMonitor(book, entry('kept', 1))
  for (const [i, id] of ['old', 'new', 'back'].entries()) {
    enterMonitor(book, unchecked(id, i + 2))
    const hoursAgo = id === 'new' ? 23 : 25
    noteDeletion(book.roster, { id, revision: i + 2, deletedAt: new Date(now - hoursAgo * 3_600_000) })
  }
  forgetDeleted(book.roster, now)
  t.same([...book.roster.entries.keys()], ['kept', 'new', 'back'], 'in the order of revisions, none before its time')
  t.equal(book.roster.floor, 2)
  enterMonitor(book, entry('back', 9))
  forgetDeleted(book.roster, now + 48 * 3_600_000)
  t.same([...book.roster.entries.keys()], ['kept', 'back'], 'one that is there again stays')
  t.same(book.roster.deleted, [])
})
