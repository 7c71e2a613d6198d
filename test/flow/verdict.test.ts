import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
} from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { ResultBatch, Trigger } from '../../shared/checks/result.ts'
import { computePartition, type RunHint, resultSubject, witnessSubject } from '../../shared/nats/subjects.ts'
import {
  createNextResult,
  insertChannel,
  insertMonitor,
  insertMonitors,
  publish,
  readStatuses,
  readTransitions,
  run,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const { url, server, db, nats, projectId, reaches } = await startVerdictEngines(t)
const tools = { db, publicUrl: 'https://picket.example' }
const verdict = await startVerdictProcess(t, url, server.url)
await waitFor(async () => (await verdict.metric('picket_verdict_partitions_owned')) === 16, { label: '16 partitions' })

const readIncidents = (id: string) =>
  query<{ title: string; severity: string; status: string }>(
    db,
    'SELECT title, severity, status FROM incidents WHERE cause_monitor_id = ? ORDER BY id',
    [id],
  )

const readDeliveries = async (id: string) =>
  (
    await query<{ name: string }>(db, 'SELECT event_name AS name FROM deliveries WHERE subject = ? ORDER BY seq', [
      `monitor:${id}`,
    ])
  ).map(({ name }) => name)

const readEvents = (id: string) =>
  query<{
    name: string
    data: { down_duration: string | null; incident: { status: string } | null; dashboard_url: string }
  }>(db, 'SELECT name, data FROM events WHERE subject = ? ORDER BY id', [`monitor:${id}`])

t.test('An outage causes one transition, one incident, one event and one delivery each way', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  await insertChannel(db, projectId, [id])
  await run(nats, id, '+--')
  await reaches(id, 'up down')
  t.same(await readIncidents(id), [{ title: 'Shop is down', severity: 'major', status: 'investigating' }])
  t.same(await readDeliveries(id), ['monitor.down'], 'the first verdict, up, is not sent')
  await run(nats, id, '++')
  await reaches(id, 'up down up')
  t.same(await readIncidents(id), [{ title: 'Shop is down', severity: 'major', status: 'resolved' }])
  t.same(await readDeliveries(id), ['monitor.down', 'monitor.up'])
  const [down, up] = await readEvents(id)
  t.match(down, { data: { down_duration: null, incident: { status: 'investigating' } } })
  t.match(up, {
    data: {
      down_duration: /second/,
      incident: { status: 'resolved' },
      dashboard_url: `https://picket.example/monitors/${id}`,
    },
  })
  const [row] = await query(db, 'SELECT status, config_version AS version FROM monitors WHERE id = ?', [id])
  t.same(row, { status: 'up', version: 1 })
  t.match(await readTransitions(db, id), [{}, { summary: /failed 2 checks in a row: us-east \(status 500\)/ }, {}])
})

t.test('A whole outage inside one message is published in order', async t => {
  const id = await insertMonitor(db, projectId)
  await insertChannel(db, projectId, [id])
  await publish(
    nats,
    [...'+-+-'].map(check => createNextResult(id, { up: check === '+' })),
  )
  await reaches(id, 'up down up down')
  t.same(await readDeliveries(id), ['monitor.down', 'monitor.up', 'monitor.down'])
  t.same(
    (await readIncidents(id)).map(({ status }) => status),
    ['resolved', 'investigating'],
  )
})

t.test('A failure waits for the votes of the other regions, which are asked immediately', async t => {
  const regions = ['us-east', 'eu-west', 'ap-southeast']
  const id = await insertMonitor(db, projectId, { regions })
  const asked: RunHint[] = []
  const hints: { states: { monitorId: string; state: number }[] }[] = []
  const subscriptions = [
    nats.connection.subscribe('HINT.run.eu-west', { callback: (_, message) => void asked.push(message.json()) }),
    nats.connection.subscribe('HINT.state.us-east', { callback: (_, message) => void hints.push(message.json()) }),
  ]
  t.teardown(() => subscriptions.map(subscription => subscription.unsubscribe()))
  for (const region of regions) await publish(nats, [createNextResult(id, { up: true })], region, `probe-${region}`)
  await reaches(id, 'up')
  await publish(nats, [createNextResult(id, { up: false })], 'us-east', 'probe-us-east')
  await waitFor(() => asked.some(hint => hint.monitorId === id && hint.trigger === 2), { label: 'a second opinion' })
  await waitFor(() =>
    hints.some(({ states }) => states.some(({ monitorId, state }) => monitorId === id && state === 3)),
  )
  await publish(nats, [createNextResult(id, { up: false })], 'eu-west', 'probe-eu-west')
  await reaches(id, 'up down')
  const [down] = await query<{ regions: string[] }>(
    db,
    `SELECT data->'check'->'regions' AS regions FROM events WHERE subject = ?`,
    [`monitor:${id}`],
  )
  t.same(down, { regions: ['us-east', 'eu-west'] })
})

t.test('A message that cannot be decoded is set aside, and the others count', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await verdict.metric('picket_verdict_set_aside_total')
  await nats.js.publish('RESULTS.3.us-east', Uint8Array.of(255, 255, 255, 255))
  await publish(nats, [createNextResult(id, { up: true })])
  const forged = createNextResult(id, { up: false, error: { source: 1, code: 'x\0', message: 'a\0b' } })
  await publish(nats, [forged], 'eu-west')
  await publish(nats, [
    { ...forged, monitorId: 'not an id' },
    createNextResult(id, { up: true, configVersion: 99 }),
    forged,
  ])
  await reaches(id, 'up down')
  // it is of another partition, which is read at the same time
  const setAside = () => verdict.metric('picket_verdict_set_aside_total')
  await waitFor(async () => (await setAside()) > before, { label: 'what is set aside' })
  t.equal(await setAside(), before + 1)
  t.match(await readTransitions(db, id), [{}, { summary: /us-east \(ab\)/ }])
})

t.test('A batch of another region than its subject is set aside', async t => {
  const id = await insertMonitor(db, projectId)
  const before = await verdict.metric('picket_verdict_set_aside_total')
  const batch = { probeId: 'p', region: 'us-east', results: [createNextResult(id, { up: false })] }
  await nats.js.publish(resultSubject(computePartition(id), 'eu-west'), ResultBatch.encode(batch).finish())
  await run(nats, id, '+')
  await reaches(id, 'up')
  t.equal(await verdict.metric('picket_verdict_set_aside_total'), before + 1)
})

t.test('Only the fleet publishes results of witnesses: a probe cannot do so on the subject of its region', async t => {
  const id = await insertMonitor(db, projectId, { regions: ['us-east'] })
  await publish(nats, [createNextResult(id, { up: true })])
  await reaches(id, 'up')
  // the default: two re-checks
  for (const attempt of [1, 2, 3])
    await publish(nats, [createNextResult(id, { up: false, statusCode: 0, doubted: true, attempt })])
  const before = await verdict.metric('picket_verdict_set_aside_total')
  const witnessed = createNextResult(id, { up: false, statusCode: 503, trigger: Trigger.WITNESS })
  await publish(nats, [witnessed], 'eu-west', 'probe-eu-west')
  const setAside = () => verdict.metric('picket_verdict_set_aside_total')
  await waitFor(async () => (await setAside()) > before, { label: 'what is set aside' })
  await reaches(id, 'up')
  const batch = { probeId: 'probe-eu-west', region: 'eu-west', results: [], witnessed }
  await nats.js.publish(witnessSubject(computePartition(id)), ResultBatch.encode(batch).finish())
  await reaches(id, 'up down')
  t.equal(await setAside(), before + 1)
})

t.test(
  'Pausing a monitor that is down resolves its incident without monitor.up, and it resumes without a status',
  async t => {
    const id = await insertMonitor(db, projectId)
    await insertChannel(db, projectId, [id])
    await run(nats, id, '-')
    await reaches(id, 'down')
    const paused = await pauseMonitor(tools, projectId, id, new Date())
    t.match(paused, { isPaused: true, status: null })
    await run(nats, id, '--')
    const resumed = await resumeMonitor(tools, projectId, id, new Date())
    t.match(resumed, { isPaused: false, status: null, configVersion: 2 })
    t.match(await readIncidents(id), [{ status: 'resolved' }])
    t.match(
      await query(
        db,
        'SELECT message FROM incident_updates u JOIN incidents i ON i.id = incident_id WHERE cause_monitor_id = ?',
        [id],
      ),
      [{ message: 'Resolved because the monitor was paused.' }],
    )
    await run(nats, id, '-')
    await run(nats, id, '+', { configVersion: 2 })
    await reaches(id, 'down null up')
    t.same(await readDeliveries(id), ['monitor.down'])
  },
)

t.test('Deleting a monitor that is down resolves its incident, and later results are history', async t => {
  const id = await insertMonitor(db, projectId)
  await run(nats, id, '-')
  await reaches(id, 'down')
  await deleteMonitor(tools, projectId, id, new Date())
  const other = await insertMonitor(db, projectId)
  await run(nats, id, '+-+')
  await run(nats, other, '+')
  await reaches(other, 'up')
  t.equal(await readStatuses(db, id), 'down null')
  t.match(await readIncidents(id), [{ status: 'resolved' }])
  await t.rejects(deleteMonitor(tools, projectId, id, new Date()), { message: 'monitor not found' })
})

t.test('A changed configuration counts from its first result', async t => {
  // results of a partition are decided in their order
  const [id = '', next = ''] = await insertMonitors(db, projectId, 2, { retryCount: 1, partition: 5 })
  await run(nats, id, '+-')
  await reaches(id, 'up')
  await query(db, "UPDATE monitors SET config_version = 2, retry_count = 2, url = url || '/new' WHERE id = ?", [id])
  await run(nats, id, '--', { configVersion: 2 })
  await run(nats, id, '-', { configVersion: 1 })
  await run(nats, next, '+')
  await reaches(next, 'up')
  t.equal(await readStatuses(db, id), 'up')
  await run(nats, id, '-', { configVersion: 2 })
  await reaches(id, 'up down')
  t.match(await readTransitions(db, id), [{}, { summary: /failed 3 checks in a row/ }])
})

t.test('A decision that PostgreSQL refuses does not stop the others', async t => {
  const [bad = '', ...neighbours] = await insertMonitors(db, projectId, 4, { partition: 5 })
  await query(
    db,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '22023'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON transitions FOR EACH ROW WHEN (NEW.monitor_id = '${bad}')
     EXECUTE FUNCTION refuse()`,
  )
  const restarts = await verdict.metric('picket_verdict_partition_restarts_total')
  await publish(
    nats,
    [bad, ...neighbours].map(id => createNextResult(id, { up: true })),
  )
  for (const id of neighbours) await reaches(id, 'up')
  t.equal(await readStatuses(db, bad), '')
  await query(db, 'DROP TRIGGER refuse ON transitions')
  await run(nats, bad, '+')
  await reaches(bad, 'up')
  t.equal(await verdict.metric('picket_verdict_partition_restarts_total'), restarts)
})

t.test('A thousand monitors that fail in one second are all reported', async t => {
  const ids = await insertMonitors(db, projectId, 1_000)
  await insertChannel(db, projectId, ids)
  await publish(
    nats,
    ids.map(id => createNextResult(id, { up: true })),
  )
  const count = async (sql: string) => (await query<{ n: number }>(db, sql, [ids]))[0]!.n
  const statusCount = `SELECT count(*) AS n FROM monitors WHERE id = ANY(?) AND status =`
  await waitFor(async () => (await count(`${statusCount} 'up'`)) === 1_000, { label: '1,000 up' })
  const startedMs = performance.now()
  await publish(
    nats,
    ids.map(id => createNextResult(id, { up: false })),
  )
  await waitFor(async () => (await count(`${statusCount} 'down'`)) === 1_000, { label: '1,000 down' })
  t.comment(`${Math.round(performance.now() - startedMs)} ms`)
  t.equal(await count(`SELECT count(*) AS n FROM incidents WHERE cause_monitor_id = ANY(?)`), 1_000)
  t.equal(await count(`SELECT count(*) AS n FROM transitions WHERE monitor_id = ANY(?) AND to_status = 'down'`), 1_000)
  t.equal(await count(`SELECT count(*) AS n FROM deliveries WHERE substr(subject, 9)::uuid = ANY(?)`), 1_000)
})

t.test('Pausing, changing and deleting during many failures keeps everything consistent', async t => {
  const ids = await insertMonitors(db, projectId, 120)
  await insertChannel(db, projectId, ids)
  const restarts = await verdict.metric('picket_verdict_partition_restarts_total')
  const storm = async () => {
    for (const up of [true, false, true, false, true, false]) {
      for (const configVersion of [1, 2])
        await publish(
          nats,
          ids.map(id => createNextResult(id, { up, configVersion })),
        )
    }
  }
  const meddle = async () => {
    for (const [i, id] of ids.entries()) {
      if (i % 3 === 0) await pauseMonitor(tools, projectId, id, new Date())
      if (i % 6 === 0) await resumeMonitor(tools, projectId, id, new Date())
      if (i % 3 === 1) await query(db, 'UPDATE monitors SET config_version = 2 WHERE id = ?', [id])
      if (i % 10 === 5) await deleteMonitor(tools, projectId, id, new Date())
    }
  }
  await Promise.all([storm(), meddle()])
  const last = ids.at(-1)!
  await waitFor(async () => (await readStatuses(db, last)).endsWith('down'))
  await run(nats, last, '+')
  await waitFor(async () => (await readStatuses(db, last)).endsWith('up'))

  t.equal(await verdict.metric('picket_verdict_partition_restarts_total'), restarts, 'no deadlock, no error')
  const inconsistent = await query(
    db,
    `SELECT m.id, m.status, latest.to_status, m.is_paused, incidents.n FROM monitors m
     LEFT JOIN LATERAL (SELECT to_status FROM transitions WHERE monitor_id = m.id ORDER BY at DESC, id DESC
                        LIMIT 1) latest ON true
     CROSS JOIN LATERAL (SELECT count(*) AS n FROM incidents
                         WHERE cause_monitor_id = m.id AND resolved_at IS NULL) incidents
     WHERE m.id = ANY(?) AND (m.status IS DISTINCT FROM latest.to_status
       OR incidents.n <> CASE WHEN m.status = 'down' THEN 1 ELSE 0 END
       OR (m.is_paused OR m.deleted_at IS NOT NULL) AND m.status IS NOT NULL)`,
    [ids],
  )
  t.same(inconsistent, [])
})

t.test('Results of an older epoch are history and change no verdict', async t => {
  const id = await insertMonitor(db, projectId)
  await run(nats, id, '+', { epoch: 2 })
  await reaches(id, 'up')
  const history = () => verdict.metric('picket_verdict_results_total{kind="history"}')
  const before = await history()
  await run(nats, id, '---', { epoch: 1 })
  await waitFor(async () => (await history()) === before + 3, { label: 'three results of history' })
  t.equal(await readStatuses(db, id), 'up')
  await run(nats, id, '-', { epoch: 2 })
  await reaches(id, 'up down')
})
