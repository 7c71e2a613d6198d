import t from 'tap'
import {
  applyLiveSet,
  applyMonitor,
  createAssignmentTable,
} from '../../../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import type { IndexedMonitor } from '../../../../control-plane/monitoring/fleet/assignments/monitor-index.ts'
import {
  pickWitnesses,
  queueWitnessRuns,
  toWitnessSpec,
} from '../../../../control-plane/monitoring/fleet/second-opinions/witness.ts'
import type { ProbeSession } from '../../../../control-plane/monitoring/fleet/sessions/session.ts'
import { createDeltaQueue } from '../../../../control-plane/monitoring/fleet/sessions/sync-queue.ts'
import type { CheckSpec } from '../../../../shared/checks/check.ts'
import { createCheckSpec } from '../../../support/spec.ts'

const SECRET = 'the-secret'
const plain = createCheckSpec({ url: 'https://shop.example/a', headers: { Accept: 'text/html' } })
const assertions = [{ type: 'body', operator: 'contains', value: 'ok' }]

const secrets: [title: string, spec: CheckSpec][] = [
  ['a header', { ...plain, headers: { 'X-Anything': SECRET } }],
  ['basic auth', { ...plain, auth: { kind: { $case: 'basic', value: { username: 'bob', password: SECRET } } } }],
  ['a bearer token', { ...plain, auth: { kind: { $case: 'bearerToken', value: SECRET } } }],
  ['a body', { ...plain, method: 'POST', body: SECRET }],
  ['a query', { ...plain, url: `https://shop.example/a?token=${SECRET}` }],
  ['a cookie, with a keyword', { ...plain, type: 'keyword', keyword: 'ok', headers: { Cookie: SECRET } }],
]

for (const [title, spec] of secrets) {
  t.test(`${title} is sent to a witness only when the monitor allows it`, async t => {
    const withAssertions = { ...spec, assertions, screenshotOnFailure: true }
    const reduced = toWitnessSpec({ spec: withAssertions, witness: 'reduced' })!
    t.notOk(JSON.stringify(reduced).includes(SECRET))
    t.match(reduced, { type: 'http', url: 'https://shop.example/a', method: 'GET', assertions: [] })
    t.same(toWitnessSpec({ spec: withAssertions, witness: 'whole' }), { ...withAssertions, screenshotOnFailure: false })
  })
}

t.test('A witness sends the same DNS question, because a dns address contains no secret', async t => {
  for (const url of ['dns://192.0.2.53/_dmarc.example.com?type=TXT', 'dns://example.com?type=MX']) {
    const spec = createCheckSpec({ type: 'dns', url })
    t.same(toWitnessSpec({ spec: { ...spec, assertions }, witness: 'reduced' }), { ...spec, assertions })
    const withHeader = { ...spec, headers: { 'X-Anything': SECRET } }
    t.match(toWitnessSpec({ spec: withHeader, witness: 'reduced' }), { type: 'dns', url, headers: {} })
  }
})

t.test('A check without credentials is unchanged, and a monitor that forbids witnesses has none', async t => {
  t.same(toWitnessSpec({ spec: { ...plain, assertions }, witness: 'reduced' }), { ...plain, assertions })
  t.equal(toWitnessSpec({ spec: plain }), null)
  t.equal(toWitnessSpec({ spec: null, witness: 'whole' }), null)
})

const entry = (regions: string[], more: Partial<IndexedMonitor> = {}): IndexedMonitor => ({
  ...{ id: 'm1', revision: 1, configVersion: 3, intervalS: 30, retryCount: 2, tenant: 1, sizeBytes: 64, spec: plain },
  regions,
  witness: 'reduced',
  ...more,
})

/** An assignment table with one monitor and, in each region, a probe that can run its check. */
function createTable(monitor: IndexedMonitor, regions: string[], capabilities = ['http']) {
  const assignments = createAssignmentTable()
  applyMonitor(assignments, monitor)
  for (const region of regions) {
    const epoch = { region, epoch: 1, probes: [{ id: `probe of ${region}`, capabilities }] }
    for (const _ of applyLiveSet(assignments, epoch));
  }
  return assignments
}

const hint = { runId: 'r', monitorId: 'm1', configVersion: 3, scheduledAtMs: 5 }
const RUNS = Array.from({ length: 40 }, (_, i) => `run-${i}`)

t.test(
  'A probe of each other region is a witness, so that a fault of one does not hide the answers of the others',
  async t => {
    const assignments = createTable(entry(['us-east']), ['us-east', 'eu-west', 'ap-southeast'])
    for (const runId of RUNS) {
      const found = pickWitnesses(assignments, { ...hint, runId })
      t.same(found.map(({ region }) => region).sort(), ['ap-southeast', 'eu-west'])
      for (const witness of found) t.match(witness, { probeId: `probe of ${witness.region}`, spec: plain, tenant: 1 })
    }
  },
)

t.test('One probe of a region is the witness, and another one for another run', async t => {
  const assignments = createTable(entry(['us-east']), ['us-east'])
  const probes = ['first', 'second'].map(id => ({ id, capabilities: ['http'] }))
  for (const _ of applyLiveSet(assignments, { region: 'eu-west', epoch: 1, probes }));
  const chosen = RUNS.map(runId => pickWitnesses(assignments, { ...hint, runId }).map(({ probeId }) => probeId))
  t.same([...new Set(chosen.map(ids => ids.join()))].sort(), ['first', 'second'])
})

/** The part of a fleet process that asks witnesses. Probes of two other regions are connected to it. */
function createWitnessContext(monitor: IndexedMonitor) {
  const regions = ['eu-west', 'ap-southeast']
  const assignments = createTable(monitor, ['us-east', ...regions])
  const createSession = () =>
    ({ syncQueue: createDeltaQueue({ revision: 1, epoch: 1 }, 1, []) }) as unknown as ProbeSession
  const sessions = new Map(regions.map(region => [`probe of ${region}`, createSession()]))
  const context = { assignments, sessions, runs: new Map() }
  let runs = 0
  const ask = (atMs: number, monitorId = 'm1') =>
    queueWitnessRuns(context, { ...hint, monitorId }, atMs, () => `run-${++runs}`)
  return { ...context, ask }
}

t.test('Witnesses are asked for a monitor at most every 9 s, and more often with a short interval', async t => {
  for (const [intervalS, pauseMs] of [
    [20, 6_000],
    [30, 9_000],
    [3_600, 9_000],
  ] as const) {
    const { ask } = createWitnessContext(entry(['us-east'], { intervalS }))
    const asked = [0, 1, pauseMs - 1, pauseMs, pauseMs + 1].map(atMs => ask(atMs).given.length)
    t.same(asked, [2, 0, 0, 2, 0])
    t.same(ask(0, 'm2'), { given: [], busy: 0 }, 'the monitor is unknown')
  }
})

t.test('Each of many monitors in doubt has its witnesses', async t => {
  const { assignments, ask } = createWitnessContext(entry(['us-east']))
  const ids = Array.from({ length: 200 }, (_, i) => `other-${i}`)
  for (const id of ids) applyMonitor(assignments, { ...entry(['us-east']), id })
  t.ok(ids.every(id => ask(0, id).given.length === 2))
})

t.test('A tenant with many monitors in doubt leaves capacity for another tenant', async t => {
  const { assignments, ask } = createWitnessContext(entry(['us-east']))
  const given = Array.from({ length: 1_000 }, (_, i) => {
    applyMonitor(assignments, { ...entry(['us-east']), id: `many-${i}` })
    return ask(0, `many-${i}`).given.length
  })
  t.equal(given.filter(count => count > 0).length, 200)
  for (let i = 0; i < 20; i++) {
    applyMonitor(assignments, { ...entry(['us-east'], { tenant: 2 }), id: `another-${i}` })
    t.equal(ask(0, `another-${i}`).given.length, 2)
  }
})

t.test('A monitor whose witnesses were all busy may ask again immediately', async t => {
  const { assignments, runs, ask } = createWitnessContext(entry(['us-east']))
  for (let i = 0; i < 250; i++) {
    applyMonitor(assignments, { ...entry(['us-east']), id: `other-${i}` })
    ask(0, `other-${i}`)
  }
  t.same(ask(1), { given: [], busy: 2 })
  runs.clear()
  t.equal(ask(2).given.length, 2)
})

const without: [title: string, ReturnType<typeof createTable>, Partial<typeof hint>?][] = [
  ['every region with a probe is the monitor’s', createTable(entry(['us-east', 'eu-west']), ['us-east', 'eu-west'])],
  ['no probe can run the check', createTable(entry(['us-east']), ['us-east', 'eu-west'], ['tcp'])],
  ['the monitor forbids it', createTable(entry(['us-east'], { witness: undefined }), ['us-east', 'eu-west'])],
  ['the monitor has changed', createTable(entry(['us-east']), ['eu-west']), { configVersion: 2 }],
  ['the monitor is unknown', createTable(entry(['us-east']), ['eu-west']), { monitorId: 'm2' }],
]
for (const [title, assignments, other] of without) {
  t.test(`No witness is selected when ${title}`, async t => {
    for (const runId of RUNS) t.same(pickWitnesses(assignments, { ...hint, ...other, runId }), [])
  })
}
