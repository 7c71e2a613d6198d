import t from 'tap'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createCanaries, removeCanaries } from '../../control-plane/insight/canaries/actions.ts'
import { computeCanaryLimits } from '../../control-plane/insight/canaries/measurement/guarantee.ts'
import { measureOutages } from '../../control-plane/insight/canaries/measurement/measure-actions.ts'
import {
  findLastMiss,
  loadOutageStatistics,
} from '../../control-plane/insight/canaries/measurement/statistics-store.ts'
import { FAILURE_KINDS, type FailureKind, getLatestOutage } from '../../control-plane/insight/canaries/schedule.ts'
import { findCanaryProject, findReceiverChannel, loadCanaries } from '../../control-plane/insight/canaries/store.ts'
import { getCheckPace } from '../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { deleteMonitor, pauseMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { canaryTools, completeCanaryTurn, findCanary, insertProbe, makeOperator } from '../support/canaries.ts'
import { createDatabase } from '../support/database.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const tools = canaryTools(db, Buffer.alloc(32, 1))
const wanted = { origin: 'https://picket.test', everySeconds: 1_800, forSeconds: 180, kinds: FAILURE_KINDS }
const start = new Date('2026-11-21T09:59:00Z')
const at = (time: string) => new Date(`2026-11-21T${time}Z`)
const look = async (on: Db, now: Date) => measureOutages(on, await loadCanaries(on), now)
const seen = async (now: Date) =>
  (await look(db, now)).map(one => [one.region, one.startedAt.toISOString().slice(11, 16), one.outcome])

t.test('Canaries need an operator project and a probe, and a failure stores nothing', async t => {
  await t.rejects(createCanaries(tools, wanted, start), /no probe is enrolled yet/)
  await insertProbe(db, 'us-east')
  await t.rejects(createCanaries(tools, wanted, start), /operator project does not exist yet/)
  const operator = await makeOperator(db)
  const blocked = { ...tools, checkLiteral: () => 'refused' }
  await t.rejects(createCanaries(blocked, wanted, start), /refused/)
  t.equal(await findCanaryProject(db), null)
  await createCanaries(tools, wanted, start)
  t.not((await findCanaryProject(db))!.projectId, operator.project_id, 'its channels get no planned failure')
})

t.test('Creating canaries again keeps existing ones and adds new regions', async t => {
  const before = await findCanary(db, 'us-east')
  await insertProbe(db, 'eu-west')
  await createCanaries(tools, wanted, at('09:59:30'))
  t.same(await findCanary(db, 'us-east'), before)
  t.match(await findCanary(db, 'eu-west'), { everySeconds: 1_800, measuredSince: at('09:59:30') })
  const rows = await query<{ region: string; monitors: number }>(
    db,
    `SELECT m.regions[1] AS region, m.interval_seconds, m.retry_count, m.config_version, r.on_down, r.on_recovery, m.url
     FROM monitors m JOIN alert_rules r ON r.monitor_id = m.id ORDER BY 1`,
  )
  t.match(rows, [
    { region: 'eu-west', interval_seconds: 30, retry_count: 2, config_version: 1, on_down: true, on_recovery: true },
    {
      region: 'us-east',
      url: /^https:\/\/picket\.test\/canary\/us-east\?every=1800&for=180&kinds=status,hang,refuse,slow,wrong&key=/,
    },
  ])
  t.equal(rows.length, 2)
  const channels = await query<{ name: string }>(db, 'SELECT name FROM alert_channels')
  t.same(channels, [{ name: 'Canaries' }])
})

t.test('A past failure is measured once, also by concurrent processes', async t => {
  const canary = await findCanary(db, 'us-east')
  const { startedAt, settledAt } = getLatestOutage(canary, at('10:01:00'))
  const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1_000)
  await completeCanaryTurn(db, canary.monitorId, 'up', at('09:59:40'))
  await completeCanaryTurn(db, canary.monitorId, 'down', after(34))
  await completeCanaryTurn(db, canary.monitorId, 'up', after(200))
  t.same(await seen(new Date(settledAt.getTime() - 1)), [], 'it is not settled yet')
  const pools = Array.from({ length: 4 }, () => createPostgres(url, 2))
  t.teardown(() => Promise.all(pools.map(pool => pool.destroy())))
  const all = (await Promise.all(pools.map(pool => look(pool, settledAt)))).flat()
  t.match(all, [{ region: 'us-east', outcome: 'reported', stages: { length: 5 } }])
  t.same(
    all[0]!.stages.map(({ seconds }) => seconds),
    [30, 34, 34, 20, 20],
  )
  t.same(await seen(settledAt), [])
  const listed = await loadCanaries(db)
  t.equal(listed.find(({ region }) => region === 'us-east')?.lastOutcome, 'reported')
})

t.test('Failures during an outage of all processes are counted as missed for a day', async t => {
  t.same(await seen(at('11:21:00')), [
    ['eu-west', '10:10', 'missed'],
    ['eu-west', '10:40', 'missed'],
    ['eu-west', '11:10', 'missed'],
    ['us-east', '10:30', 'missed'],
    ['us-east', '11:00', 'missed'],
  ])
  const days = (await seen(new Date('2026-11-25T11:21:00Z'))).filter(([region]) => region === 'us-east')
  t.equal(days.length, 48, 'twice an hour')
  t.match(await loadCanaries(db), [{ region: 'eu-west', lastOutcome: 'missed' }, { region: 'us-east' }])
})

t.test('Each planned failure is stored with its guarantee and its delay', async t => {
  const canary = await findCanary(db, 'eu-west')
  const failureAt = (hour: number) => getLatestOutage(canary, new Date(`2026-11-25T${hour}:12:00Z`))
  const measure = async (hour: number, secondsUntilDown: number) => {
    const { startedAt, settledAt } = failureAt(hour)
    const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1_000)
    await completeCanaryTurn(db, canary.monitorId, 'down', after(secondsUntilDown))
    await completeCanaryTurn(db, canary.monitorId, 'up', after(200))
    await look(db, settledAt)
    const [row] = await query<{ kind: FailureKind; guarantee: string; late_seconds: number | null }>(
      db,
      `SELECT kind, outcome, guarantee, down_within, message_within, late_seconds FROM canary_outages
       WHERE region = 'eu-west' ORDER BY started_at DESC LIMIT 1`,
    )
    return row!
  }
  await completeCanaryTurn(db, canary.monitorId, 'up', new Date('2026-11-25T12:00:00Z'))
  t.match(await measure(12, 20), { outcome: 'told', guarantee: 'kept', late_seconds: null })
  const late = await measure(13, 80)
  const { downWithin, messageWithin } = computeCanaryLimits(late.kind, canary, getCheckPace(canary))
  t.match(late, { guarantee: 'missed', down_within: downWithin, message_within: messageWithin })
  t.equal(late.late_seconds, 80 - downWithin)
  await completeCanaryTurn(db, canary.monitorId, 'down', new Date('2026-11-25T14:00:00Z'))
  const judged = await look(db, failureAt(14).settledAt)
  t.match(
    judged.findLast(({ region }) => region === 'eu-west'),
    { outcome: 'missed', guarantee: 'none' },
    'was not up',
  )
})

t.test('A canary that is paused, deleted or changed has no missed failure', async t => {
  const later = new Date('2026-11-26T10:02:00Z')
  const canary = await findCanary(db, 'us-east')
  const { projectId } = (await findCanaryProject(db))!
  await pauseMonitor(tools, projectId, canary.monitorId, later)
  const now = new Date('2026-11-26T11:15:00Z')
  await createCanaries(tools, { ...wanted, everySeconds: 3_600 }, later)
  t.match(await findCanary(db, 'us-east'), { everySeconds: 3_600, isPaused: true, measuredSince: later })
  t.same(await seen(now), [
    ['eu-west', '10:20', 'missed'],
    ['us-east', '11:00', 'unmeasured'],
  ])
  await deleteMonitor(tools, projectId, canary.monitorId, now)
  t.same(
    (await loadCanaries(db)).map(({ region }) => region),
    ['eu-west'],
  )
  await createCanaries(tools, wanted, now)
  t.not((await findCanary(db, 'us-east')).monitorId, canary.monitorId, 'a deleted one is created again')
})

t.test('A region whose probes are all revoked loses its canary when canaries are created again', async t => {
  await execute(db, `UPDATE probes SET revoked_at = now() WHERE region = 'eu-west'`)
  await createCanaries(tools, wanted, start)
  t.same(await query(db, 'SELECT name FROM monitors WHERE deleted_at IS NULL'), [{ name: 'Canary us-east' }])
  await execute(db, 'UPDATE probes SET revoked_at = NULL')
  await execute(db, 'UPDATE alert_channels SET is_paused = true')
  await createCanaries(tools, wanted, start)
  t.equal((await loadCanaries(db)).length, 2)
  t.same(await query(db, 'SELECT is_paused FROM alert_channels'), [{ is_paused: false }])
})

t.test('Removed canaries leave no monitor and no channel, and can be created again', async t => {
  t.equal(await removeCanaries(db, 'https://picket.test', start), true)
  t.same(await query(db, 'SELECT id FROM monitors WHERE deleted_at IS NULL'), [])
  t.equal(await findReceiverChannel(db), null)
  t.equal(await removeCanaries(db, 'https://picket.test', start), false)
  await createCanaries(tools, wanted, start)
  t.equal((await loadCanaries(db)).length, 2)
  t.ok(await findReceiverChannel(db))
})

t.test(
  'Figures of 30 days are by kind; undetected failures are the slowest, and failures without a guarantee are left out',
  async t => {
    await execute(db, 'DELETE FROM canary_outages')
    const insert = (
      kind: FailureKind,
      hour: number,
      seconds: number | null,
      guarantee: string | null,
      late: number | null,
    ) =>
      execute(
        db,
        `INSERT INTO canary_outages (region, kind, started_at, ended_at, outcome, stages, guarantee, late_seconds, created_at)
       VALUES ('us-east', ?, ?, now(), ?, ?, ?, ?, now())`,
        [
          ...[kind, new Date(start.getTime() + hour * 3_600_000), seconds === null ? 'missed' : 'told'],
          JSON.stringify([
            ...(seconds === null ? [] : [{ turn: 'down', stage: 'status', seconds }]),
            ...(seconds === null ? [] : [{ turn: 'down', stage: 'alert', seconds: seconds + 0.5 }]),
            { turn: 'up', stage: 'status', seconds: 900 },
          ]),
          ...[guarantee, late],
        ],
      )
    t.same(await loadOutageStatistics(db, start), [])
    t.equal(await findLastMiss(db, start), null)
    for (let i = 1; i <= 98; i++) await insert('hang', i, i, 'kept', null)
    await insert('hang', 99, 130, 'missed', 80)
    await insert('hang', 100, null, 'missed', null)
    await insert('wrong', 101, 20, null, null)
    await insert('wrong', 102, 500, 'none', null)
    await insert('wrong', -1, 300, 'missed', 260)
    const figures = await loadOutageStatistics(db, start)
    t.same(
      figures.toSorted((a, b) => a.kind.localeCompare(b.kind)),
      [
        {
          ...{ kind: 'hang', outages: 100, compared: 100, misses: 2 },
          ...{ down: { p50: 50, p95: 95, p99: 130 }, message: { p50: 50.5, p95: 95.5, p99: 130.5 } },
        },
        {
          ...{ kind: 'wrong', outages: 1, compared: 0, misses: 0 },
          ...{ down: { p50: 20, p95: 20, p99: 20 }, message: { p50: 20.5, p95: 20.5, p99: 20.5 } },
        },
      ],
    )
    t.match(await findLastMiss(db, start), { kind: 'hang', lateSeconds: null })
    await insert('hang', 103, null, 'missed', null)
    t.match(
      await loadOutageStatistics(db, start),
      [{ down: { p99: null } }, {}],
      'more than one of 100 was never noticed',
    )
  },
)
