import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { pauseMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { acknowledgeIncident, postUpdate } from '../../control-plane/verdict/incidents/api/actions.ts'
import { listSilencedMonitors } from '../../control-plane/verdict/suppression/store.ts'
import { createDatabase } from '../support/database.ts'
import { countSuppressions, createScenario, formatEvents, type Scenario } from '../support/silences.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { insertSubscribers } from '../support/subscribers.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const newHouse = async () => createScenario(db, (await insertTenant(db)).projectId)
const one = async (house: Scenario, checks = '+') => {
  const [id] = (await house.addMonitors(1)) as [string]
  await house.check([id], checks)
  return id
}

t.test('An outage that begins and ends in a silence is stored and not sent', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 60)
  await house.check([id], '-+-+')
  await house.leap(60)
  t.equal(await house.sent(id), '')
  t.equal(await formatEvents(db, id), 'down up down up created resolved created resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that continues after a silence is sent then, once, and so is its end', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 60)
  await house.check([id], '-')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [id])
  await house.pass(50)
  t.equal(await house.sent(id), '')
  await house.pass(10)
  t.equal(await house.sent(id), 'down created')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [])
  await house.leap(120)
  await house.check([id], '+')
  t.equal(await house.sent(id), 'down created up resolved')
})

t.test('The deletion of an open incident stops no alert: neither of its monitor nor of another tenant', async t => {
  const [house, neighbour] = [await newHouse(), await newHouse()]
  const [id, other] = [await one(house), await one(neighbour)]
  await execute(db, 'UPDATE alert_rules SET remind_every_minutes = 5 WHERE project_id = ?', [house.projectId])
  await house.silence([id], 60)
  await neighbour.silence([other], 60)
  await house.check([id], '-')
  await neighbour.check([other], '-')
  await execute(db, 'DELETE FROM incidents WHERE project_id = ?', [house.projectId])
  await house.leap(60)
  t.equal(await house.sent(id), 'down')
  t.equal(await neighbour.sent(other), 'down created')
  const created = `SELECT FROM deliveries WHERE project_id = ? AND event_name = 'incident.created'`
  t.same(await query(db, created, [house.projectId]), [], 'nothing is sent about the deleted incident')
  t.same(await query(db, 'SELECT FROM reminders'), [])
})

t.test('The end of a known outage is sent after the silence', async t => {
  const house = await newHouse()
  const id = await one(house, '+-')
  t.equal(await house.sent(id), 'down created')
  await house.silence([id], 60)
  await house.check([id], '+')
  t.equal(await house.sent(id), 'down created')
  await house.leap(60)
  t.equal(await house.sent(id), 'down created up resolved')
})

t.test('A silence that is ended early sends what continues immediately', async t => {
  const house = await newHouse()
  const [lasting, brief] = [await one(house), await one(house)]
  const { id } = await house.silence([lasting, brief], 86_400)
  await house.check([lasting], '-')
  await house.check([brief], '-+')
  t.same([await house.sent(lasting), await house.sent(brief)], ['', ''])
  await house.endSilence(id)
  await house.look()
  t.same([await house.sent(lasting), await house.sent(brief)], ['down created', ''])
  t.equal(await countSuppressions(db), 0)
})

t.test('Of two silences the one that ends last counts, and maintenance counts too', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 120)
  await house.silence([id], 30)
  await house.maintain([id], 180)
  await house.check([id], '-')
  await house.leap(40)
  t.equal(await house.sent(id), '')
  await house.leap(90)
  t.equal(await house.sent(id), '', 'maintenance lasts')
  await house.leap(60)
  t.equal(await house.sent(id), 'down created')
})

t.test('A silence has no effect on monitors that it does not contain', async t => {
  const house = await newHouse()
  const [silenced, other] = [await one(house), await one(house)]
  await house.silence([silenced], 60)
  t.same([...(await listSilencedMonitors(db, [silenced, other], house.now()))], [silenced])
  await house.check([silenced, other], '-')
  t.same([await house.sent(silenced), await house.sent(other)], ['', 'down created'])
})

t.test(
  'Receivers of changes that people make to a withheld incident are sent its end, also when the monitor is paused',
  async t => {
    const tools = { db, publicUrl: 'https://picket.example', limits: DEFAULT_LIMITS }
    const people = await insertTenant(db)
    const house = createScenario(db, people.projectId)
    await insertSubscriber(people.projectId)
    type Act = 'nothing' | 'acknowledge' | 'internal' | 'public' | 'internal end'
    const rows: { act: Act; sent: string; toSubscribers: string }[] = [
      { act: 'nothing', sent: '', toSubscribers: '' },
      { act: 'acknowledge', sent: 'acknowledged resolved', toSubscribers: '' },
      { act: 'internal', sent: 'updated resolved', toSubscribers: '' },
      { act: 'public', sent: 'updated resolved', toSubscribers: 'updated resolved' },
      { act: 'internal end', sent: 'resolved', toSubscribers: '' },
    ]
    for (const { act, sent, toSubscribers } of rows) {
      for (const end of ['recovery', 'pause']) {
        const id = await one(house)
        await house.silence([id], 60)
        await house.check([id], '-')
        const [incident] = await query<{ id: string }>(db, 'SELECT id FROM incidents WHERE cause_monitor_id = ?', [id])
        const text = { message: 'We are looking.', is_internal: act !== 'public' }
        const message = act === 'internal end' ? { ...text, status: 'resolved' as const } : text
        if (act === 'acknowledge') await acknowledgeIncident(tools, people, incident!.id, house.now())
        else if (act !== 'nothing') await postUpdate(tools, people, incident!.id, message, house.now())
        if (end === 'recovery') await house.check([id], '+')
        else await pauseMonitor(tools, people.projectId, id, house.now())
        t.equal(await house.sent(id), sent, `${act}, ${end}`)
        t.equal(await listPageNotices(incident!.id), toSubscribers, `${act}, ${end}: subscribers`)
        await house.leap(60)
        t.equal(await house.sent(id), sent, `${act}, ${end}: nothing more after the silence`)
      }
    }
  },
)

/** A confirmed subscriber of a published page. */
async function insertSubscriber(projectId: string): Promise<void> {
  const pageId = await insertStatusPage(db, projectId, 'acme')
  const channelId = await insertChannel(db, projectId, [])
  const rows = [{ id: pageId, config: '00' }]
  await insertSubscribers(db, { projectId, pageId, channelId, componentIds: null, rows })
}

async function listPageNotices(incidentId: string): Promise<string> {
  const rows = await query<{ name: string }>(
    db,
    'SELECT e.name FROM page_notices n JOIN events e ON e.id = n.event_id WHERE e.subject = ? ORDER BY e.id',
    [`incident:${incidentId}`],
  )
  return rows.map(({ name }) => name.replace('incident.', '')).join(' ')
}
