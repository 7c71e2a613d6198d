import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
} from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { processDueWatches, storeCertificates } from '../../control-plane/verdict/expiry/actions.ts'
import { createSilence } from '../../control-plane/verdict/silences/actions.ts'
import { createDatabase } from '../support/database.ts'
import {
  DAY_MS,
  insertExpiryMonitor,
  observeCertificate,
  readExpiryDates,
  readExpiryWarnings,
} from '../support/expiry.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
const other = createPostgres(url)
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))
const { projectId } = await insertTenant(db)

const start = new Date('2027-01-01T12:00:00.000Z')
const day = (days: number) => new Date(start.getTime() + days * DAY_MS)
const look = (at: Date, on = db) => processDueWatches(on, 'https://picket.example', 100, at)
const warning = (days: number) => ({ name: 'monitor.ssl_expiry', days, deliveries: 1 })

t.test(
  'Warnings about a certificate are sent at 30, 14, 7, 3 and 1 days, once each, and its date is shown',
  async t => {
    const { id } = await insertExpiryMonitor(db, projectId)
    await observeCertificate(db, id, start, { ends: day(40) })
    t.same((await readExpiryDates(db, id)).ssl, day(40))
    for (let hours = 0; hours < 50 * 24; hours += 7) await look(new Date(start.getTime() + hours * 3_600_000))
    t.same(await readExpiryWarnings(db, id), [30, 14, 7, 3, 1].map(warning))
  },
)

t.test('A monitor that is added late gets the nearest threshold only, and a renewal begins again', async t => {
  const { id } = await insertExpiryMonitor(db, projectId)
  await observeCertificate(db, id, start, { ends: day(5) })
  await look(start)
  t.same(await readExpiryWarnings(db, id), [warning(5)])
  await observeCertificate(db, id, day(1), { fingerprint: 'bb', ends: day(91) })
  t.same((await readExpiryDates(db, id)).ssl, day(91))
  await look(day(1))
  await look(day(60))
  await look(day(61))
  t.same(await readExpiryWarnings(db, id), [warning(5), warning(30)])
})

t.test('An expired certificate is reported once', async t => {
  const { id } = await insertExpiryMonitor(db, projectId)
  await observeCertificate(db, id, start, { ends: day(-2) })
  await look(start)
  await look(day(1))
  t.same(await readExpiryWarnings(db, id), [warning(-2)])
})

t.test('The certificate that ends first counts among those of the regions', async t => {
  const { id } = await insertExpiryMonitor(db, projectId, { regions: ['us-east', 'eu-west'] })
  await observeCertificate(db, id, start, { ends: day(80) })
  await observeCertificate(db, id, start, { region: 'eu-west', fingerprint: 'bb', ends: day(20) })
  t.same((await readExpiryDates(db, id)).ssl, day(20))
  await observeCertificate(db, id, day(1), { fingerprint: 'cc', ends: day(90) })
  t.same((await readExpiryDates(db, id)).ssl, day(20), 'one region has the renewed one')
  await observeCertificate(db, id, day(2), { region: 'eu-west', fingerprint: 'cc', ends: day(90) })
  t.same((await readExpiryDates(db, id)).ssl, day(90), 'both have')
  await execute(db, `UPDATE monitors SET regions = '{us-east}' WHERE id = ?`, [id])
  await observeCertificate(db, id, day(3), { region: 'eu-west', fingerprint: 'bb', ends: day(20) })
  t.same((await readExpiryDates(db, id)).ssl, day(90), 'a region that is not asked any more does not count')
})

t.test(
  'The certificate of a region that has seen none for 30 hours does not count, while another region sees one that ends later',
  async t => {
    const { id } = await insertExpiryMonitor(db, projectId, { regions: ['us-east', 'eu-west'] })
    const renewed = { fingerprint: 'cc', ends: day(90) }
    await observeCertificate(db, id, start, { ends: day(20) })
    await observeCertificate(db, id, start, { region: 'eu-west', ends: day(20) })
    await observeCertificate(db, id, day(1.2), { ...renewed, isSteady: true })
    t.same((await readExpiryDates(db, id)).ssl, day(20), 'the other region may see it still')
    await observeCertificate(db, id, day(1.3), { ...renewed, isSteady: false })
    t.same((await readExpiryDates(db, id)).ssl, day(20), 'the other region may not have been recorded yet')
    await observeCertificate(db, id, day(1.4), { ...renewed, isSteady: true })
    t.same((await readExpiryDates(db, id)).ssl, day(90))
    await observeCertificate(db, id, day(2), { ...renewed, isSteady: false })
    t.same((await readExpiryDates(db, id)).ssl, day(90), 'also after a restart')
    for (const at of [13, 17, 19, 21]) await look(day(at))
    t.same(await readExpiryWarnings(db, id), [], 'nothing is sent about the old one')
    await observeCertificate(db, id, day(22), { region: 'eu-west', fingerprint: 'dd', ends: day(40) })
    t.same((await readExpiryDates(db, id)).ssl, day(40), 'the region counts again when it sees one')
  },
)

t.test('An old certificate that one region still sees each day keeps counting after a renewal elsewhere', async t => {
  const { id } = await insertExpiryMonitor(db, projectId, { regions: ['us-east', 'eu-west'] })
  for (const at of [0, 1.2, 2.4, 3.6, 4.8]) {
    const old = { region: 'eu-west', fingerprint: 'bb', ends: day(17), isSteady: true }
    await observeCertificate(db, id, day(at), old)
    await observeCertificate(db, id, day(at + 1.2), { fingerprint: 'cc', ends: day(90), isSteady: true })
    t.same((await readExpiryDates(db, id)).ssl, day(17))
    await look(day(at + 1.2))
  }
  t.same(await readExpiryWarnings(db, id), [warning(16), warning(14)])
})

t.test('A region that checks the monitor again does not bring back the certificate that it saw before', async t => {
  const { id } = await insertExpiryMonitor(db, projectId, { regions: ['us-east', 'eu-west'] })
  await observeCertificate(db, id, start, { ends: day(20) })
  await observeCertificate(db, id, start, { region: 'eu-west', ends: day(20) })
  await execute(db, `UPDATE monitors SET regions = '{us-east}' WHERE id = ?`, [id])
  await observeCertificate(db, id, day(1), { ends: day(20) })
  await observeCertificate(db, id, day(8), { fingerprint: 'cc', ends: day(98) })
  await execute(db, `UPDATE monitors SET regions = '{us-east,eu-west}' WHERE id = ?`, [id])
  await observeCertificate(db, id, day(10), { fingerprint: 'cc', ends: day(98) })
  t.same((await readExpiryDates(db, id)).ssl, day(98))
  await look(day(10))
  t.same(await readExpiryWarnings(db, id), [])
})

t.test('A certificate that all regions see rarely keeps counting', async t => {
  const { id } = await insertExpiryMonitor(db, projectId, { regions: ['us-east', 'eu-west'] })
  await observeCertificate(db, id, start, { ends: day(80) })
  await observeCertificate(db, id, start, { region: 'eu-west', fingerprint: 'bb', ends: day(20) })
  await observeCertificate(db, id, day(15), { ends: day(80), isSteady: false })
  await observeCertificate(db, id, day(15), { region: 'eu-west', fingerprint: 'bb', ends: day(20), isSteady: false })
  await observeCertificate(db, id, day(15.2), { ends: day(80), isSteady: true })
  t.same((await readExpiryDates(db, id)).ssl, day(20))
})

t.test('Reading results again, and alternating certificates, cause no second warning', async t => {
  const { id } = await insertExpiryMonitor(db, projectId)
  const ends = day(13)
  for (let i = 0; i < 4; i++) {
    await observeCertificate(db, id, day(i / 10), { ends })
    await look(day(i / 10))
    await observeCertificate(db, id, day(i / 10), { fingerprint: 'bb', ends: day(200) })
    await look(day(i / 10))
  }
  await observeCertificate(db, id, day(-1), { fingerprint: 'old', ends: day(2) })
  t.same((await readExpiryDates(db, id)).ssl, day(200), 'an older result changes nothing')
  t.same(await readExpiryWarnings(db, id), [warning(13)])
})

t.test('Two processes at the same time send each warning once', async t => {
  const watched = await Promise.all(Array.from({ length: 30 }, () => insertExpiryMonitor(db, projectId)))
  for (const { id } of watched) await observeCertificate(db, id, start, { ends: day(10) })
  for (const at of [start, day(3), day(7), day(9)]) {
    await Promise.all([look(at), look(at, other), look(at), look(at, other)])
    await look(at)
  }
  for (const { id } of watched) t.same(await readExpiryWarnings(db, id), [10, 7, 3, 1].map(warning))
})

t.test('A silenced monitor gets its warning after the silence', async t => {
  const { id } = await insertExpiryMonitor(db, projectId)
  await observeCertificate(db, id, start, { ends: day(10) })
  await createSilence(db, projectId, { monitor_ids: [id], until: day(3).toISOString() }, start)
  await look(start)
  await look(day(2))
  t.same(await readExpiryWarnings(db, id), [])
  await look(day(4))
  t.same(await readExpiryWarnings(db, id), [warning(6)])
})

t.test('A paused monitor gets no warning until it is resumed, and a deleted one gets none', async t => {
  const [paused, deleted] = [await insertExpiryMonitor(db, projectId), await insertExpiryMonitor(db, projectId)]
  for (const { id } of [paused, deleted]) await observeCertificate(db, id, start, { ends: day(10) })
  await pauseMonitor({ db, publicUrl: 'https://picket.example' }, projectId, paused.id, start)
  await deleteMonitor({ db, publicUrl: 'https://picket.example' }, projectId, deleted.id, start)
  await look(start)
  await observeCertificate(db, paused.id, day(1), { fingerprint: 'bb', ends: day(2) })
  await look(day(5))
  t.same([...(await readExpiryWarnings(db, paused.id)), ...(await readExpiryWarnings(db, deleted.id))], [])
  t.same((await readExpiryDates(db, paused.id)).ssl, day(10), 'what runs behind the pause is history')
  await execute(db, 'UPDATE monitors SET is_paused = false WHERE id = ?', [paused.id])
  await look(day(6))
  t.same(await readExpiryWarnings(db, paused.id), [warning(4)])
})

t.test(
  'A certificate that was renewed during a pause gets no warning, and one that was not gets it after two checks',
  async t => {
    const [renewed, old] = [await insertExpiryMonitor(db, projectId), await insertExpiryMonitor(db, projectId)]
    const minutesAfter = (minutes: number) => new Date(day(20).getTime() + minutes * 60_000)
    for (const { id } of [renewed, old]) {
      await execute(db, 'UPDATE monitors SET interval_seconds = 3600 WHERE id = ?', [id])
      await observeCertificate(db, id, start, { ends: day(40) })
      await look(start)
      await pauseMonitor({ db, publicUrl: 'https://picket.example' }, projectId, id, day(1))
      await look(day(20))
      await resumeMonitor({ db }, projectId, id, minutesAfter(1))
    }
    await look(minutesAfter(135))
    await observeCertificate(db, renewed.id, minutesAfter(135), { configVersion: 2, fingerprint: 'bb', ends: day(110) })
    await look(minutesAfter(137))
    t.same(await readExpiryWarnings(db, renewed.id), [])
    t.same(await readExpiryWarnings(db, old.id), [warning(20)])
  },
)

t.test(
  'Certificates of an older configuration, of monitors without ssl_check and of unknown monitors are ignored',
  async t => {
    const { id } = await insertExpiryMonitor(db, projectId)
    const off = await insertExpiryMonitor(db, projectId)
    await execute(db, 'UPDATE monitors SET config_version = 3 WHERE id = ?', [id])
    await execute(db, 'UPDATE monitors SET ssl_check = false WHERE id = ?', [off.id])
    const seen = { region: 'us-east', fingerprint: 'aa', expiresAtMs: day(5).getTime(), seenAtMs: start.getTime() }
    await storeCertificates(
      db,
      [
        { ...seen, monitorId: id, configVersion: 2 },
        { ...seen, monitorId: off.id, configVersion: 1 },
        { ...seen, monitorId: '01975a2c-0000-7000-8000-000000000000', configVersion: 1 },
      ],
      start,
    )
    for (const monitorId of [id, off.id]) t.same((await readExpiryDates(db, monitorId)).ssl, null)
    await observeCertificate(db, id, start, { configVersion: 3, ends: day(5) })
    t.same((await readExpiryDates(db, id)).ssl, day(5))
  },
)

t.test('A certificate that PostgreSQL rejects does not stop the others that are stored with it', async t => {
  const watched = await Promise.all(Array.from({ length: 5 }, () => insertExpiryMonitor(db, projectId)))
  const seen = watched.map(({ id }) => ({
    monitorId: id,
    region: 'us-east',
    configVersion: 1,
    fingerprint: 'aa',
    expiresAtMs: day(10).getTime(),
    seenAtMs: start.getTime(),
  }))
  const [early, late] = [
    { ...seen[1]!, seenAtMs: -1e17 },
    { ...seen[3]!, configVersion: 2 ** 32 - 1 },
  ]
  const outcome = await storeCertificates(db, [seen[0]!, early, seen[2]!, late, seen[4]!], start)
  const dates = await Promise.all(watched.map(async ({ id }) => (await readExpiryDates(db, id)).ssl))
  t.same(dates, [day(10), null, day(10), null, day(10)])
  t.match(outcome, { locked: [], rejected: [{ certificate: early }, { certificate: late }] })
  t.equal(outcome.rejected.length, 2)
})

t.test('A date is removed together with what it is about', async t => {
  const { id } = await insertExpiryMonitor(db, projectId)
  await observeCertificate(db, id, start, { ends: day(10) })
  await execute(db, 'UPDATE monitors SET ssl_expires_at = NULL WHERE id = ?', [id])
  const rows = `SELECT monitor_id FROM certificates_seen WHERE monitor_id = :id
    UNION ALL SELECT monitor_id FROM expiry_watches WHERE monitor_id = :id AND kind = 'tls'`
  t.same(await query(db, rows, { id }), [])
  await look(day(9))
  t.same(await readExpiryWarnings(db, id), [])
})
