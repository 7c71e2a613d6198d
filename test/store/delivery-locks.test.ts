import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { MAIL_LIMITS, MAIL_RULES } from '../../control-plane/accounts/email/daily-limits/limits.ts'
import { reserveMails } from '../../control-plane/accounts/email/daily-limits/store.ts'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { lockPaces } from '../../control-plane/alerting/deliveries/limits/pace-store.ts'
import { sendTest } from '../../control-plane/alerting/routing/alert-channels/actions.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createMailer } from '../../control-plane/foundation/platform/mail/mailer.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { createDatabase } from '../support/database.ts'
import { startWorker } from '../support/delivery-worker.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { publishWithoutFanOut, runFanOut } from '../support/publishing.ts'
import { startReceiver } from '../support/receiver.ts'
import { refuseDeliveries } from '../support/refused-deliveries.ts'
import { startSmtp } from '../support/smtp.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secretKey = randomBytes(32)

/** A tenant with one channel or more, and an outage to be delivered. */
async function outage(receiverUrl: string, { mailTo, count = 1 }: { mailTo?: string; count?: number } = {}) {
  const tenant = await insertTenant(db)
  const monitorIds = await insertMonitors(db, tenant.projectId, 1)
  const channels = { projectId: tenant.projectId, monitorIds, url: receiverUrl, secretKey, count }
  const [id] = await insertManyChannels(db, channels)
  if (mailTo) {
    const config = encryptConfig(
      { to: [mailTo] },
      { id: id!, projectId: tenant.projectId },
      createSecretCipher(secretKey),
    )
    const sql = `UPDATE alert_channels SET type = 'email', config = ?, signing_secret = NULL WHERE id = ?`
    await execute(db, sql, [config, id!])
    await confirmAddresses(db, tenant.organizationId, mailTo)
  }
  await publishWithoutFanOut(db, tenant, [{ monitorId: monitorIds[0]!, status: 'down' }], new Date())
  await runFanOut(db, new Date())
  return tenant.projectId
}

/** The statuses of its deliveries, each once, as "delivered pending". */
const readStatuses = async (projectId: string) => {
  const sql = 'SELECT DISTINCT status FROM deliveries WHERE project_id = ? ORDER BY status'
  return (await query<{ status: string }>(db, sql, [projectId])).map(({ status }) => status).join(' ')
}

/** A webhook receiver that responds on command. */
async function startPatientReceiver() {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => void waiting.push(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, waiting }
}

t.test('A channel that a transaction holds locked does not delay the deliveries of other tenants', async t => {
  const [patient, other] = [await startPatientReceiver(), await startReceiver(t)]
  const held = await outage(patient.url)
  // a delivery that ends on a channel with failures is counted in the channel's row
  await execute(db, 'UPDATE alert_channels SET consecutive_failures = 1 WHERE project_id = ?', [held])
  startWorker(t, { url, db, secretKey })
  await waitFor(() => patient.waiting.length === 1, { label: 'the request to the channel that will be locked' })
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM alert_channels WHERE project_id = ? FOR UPDATE', [held])
  patient.waiting[0]!.end()
  const free = await outage(other.url)
  await waitFor(async () => (await readStatuses(free)) === 'delivered', { label: 'the delivery of the other tenant' })
  t.equal(await readStatuses(held), 'pending')
  await lock.rollback()
  await waitFor(async () => (await readStatuses(held)) === 'delivered', {
    label: 'the delivery whose channel was locked',
  })
  t.equal(patient.waiting.length, 1, 'it was sent once')
})

t.test(
  'Results that PostgreSQL rejects delay no delivery of other tenants, and are written when it accepts them',
  async t => {
    const [patient, other] = [await startPatientReceiver(), await startReceiver(t)]
    const rejected = await outage(patient.url)
    startWorker(t, { url, db, secretKey })
    await waitFor(() => patient.waiting.length === 1, { label: 'the request whose result will be rejected' })
    const accept = await refuseDeliveries(db, rejected, { on: 'UPDATE', code: '23514' })
    patient.waiting[0]!.end()
    const free = await outage(other.url)
    await waitFor(async () => (await readStatuses(free)) === 'delivered', { label: 'the delivery of the other tenant' })
    t.equal(await readStatuses(rejected), 'pending')
    await accept()
    await waitFor(async () => (await readStatuses(rejected)) === 'delivered', { label: 'the rejected result' })
    t.equal(patient.waiting.length, 1, 'it was sent once')
  },
)

t.test(
  'A test of a failing channel waits for the results that are being stored, and never deadlocks with them',
  async t => {
    const projectId = await outage('http://127.0.0.1:9/')
    const [channel] = await query<{ id: string; organizationId: string }>(
      db,
      `SELECT c.id, p.organization_id AS "organizationId" FROM alert_channels c JOIN projects p ON p.id = c.project_id
     WHERE c.project_id = ?`,
      [projectId],
    )
    const { id, organizationId } = channel!
    const secrets = createSecretCipher(secretKey)
    const tools = { db, secrets, publicUrl: 'https://picket.test', sendsMail: false, mailRules: MAIL_RULES }
    const test = () => sendTest(tools, { projectId, organizationId }, id, new Date())
    await test()
    // what a worker locks that stores results
    const worker = await openTransaction(db)
    await query(worker, 'SELECT FROM alert_channels WHERE id = ? FOR KEY SHARE', [id])
    await query(worker, 'SELECT FROM delivery_lanes WHERE channel_id = ? FOR UPDATE', [id])
    const tested = test()
    await waitFor(async () => {
      const [row] = await query<{ count: number }>(
        db,
        'SELECT count(*)::integer AS count FROM pg_locks WHERE NOT granted',
      )
      return row!.count > 0
    })
    await query(worker, 'SELECT FROM alert_channels WHERE id = ? FOR NO KEY UPDATE', [id])
    await worker.rollback()
    t.match(await tested, /^whd_/)
  },
)

t.test('Counters of mails that a transaction holds locked delay no mail and no webhook of any tenant', async t => {
  const [smtp, receiver, metrics] = [await startSmtp(t), await startReceiver(t), createMetrics()]
  const mailer = createMailer(smtp.url, 'Picket <picket@example.com>')
  t.teardown(mailer.close)
  const uncounted = async () => Number(/^picket_mails_uncounted_total (\d+)/m.exec((await metrics.render()).text)?.[1])
  const counted = async () => {
    const [row] = await query<{ used: number }>(db, 'SELECT coalesce(sum(used), 0)::integer AS used FROM mail_counts')
    return row!.used
  }
  const lock = await openTransaction(db)
  // of another organization: the counter of the installation is shared
  const { organizationId } = await insertTenant(db)
  const wish = { kind: 'alert' as const, organizationId, plan: 'free' as const, address: 'eve@other.example' }
  await reserveMails(lock, [wish], MAIL_LIMITS, new Date())
  const projects = [await outage(receiver.url, { mailTo: 'ann@ops.example' }), await outage(receiver.url)]
  projects.push(await outage(receiver.url, { mailTo: 'ben@ops.example' }), await outage(receiver.url))
  startWorker(t, { url, db, secretKey, mailer, metrics })
  for (const id of projects)
    await waitFor(async () => (await readStatuses(id)) === 'delivered', {
      label: 'a delivery while counters are locked',
    })
  t.same(smtp.mails.flatMap(({ to }) => to).sort(), ['ann@ops.example', 'ben@ops.example'])
  t.equal(await uncounted(), 2)
  await lock.rollback()
  const later = await outage(receiver.url, { mailTo: 'ann@ops.example' })
  await waitFor(async () => (await readStatuses(later)) === 'delivered', { label: 'a mail after the lock is gone' })
  t.equal(await uncounted(), 2)
  t.equal(await counted(), 3, 'one organization, one address, one installation')
})

t.test('The pace of an event that a transaction holds locked delays no other event and no other tenant', async t => {
  const receiver = await startReceiver(t)
  const held = await outage(receiver.url, { count: 12 })
  const [event] = await query<{ id: string }>(db, 'SELECT id FROM events WHERE project_id = ?', [held])
  const lock = await openTransaction(db)
  await lockPaces(lock, [{ eventId: event!.id, host: '127.0.0.1' }])
  const free = [await outage(receiver.url), await outage(receiver.url, { count: 12 })]
  startWorker(t, { url, db, secretKey, webhookBurst: 10 })
  for (const id of free)
    await waitFor(async () => (await readStatuses(id)) === 'delivered', { label: 'deliveries while a pace is locked' })
  t.equal(await readStatuses(held), 'pending')
  await lock.rollback()
  await waitFor(async () => (await readStatuses(held)) === 'delivered', { label: 'the event whose pace was locked' })
  t.equal(receiver.received.length, 25, 'each was sent once')
  const [pace] = await query(db, 'SELECT has_left AS "hasLeft" FROM event_paces WHERE event_id = ?', [event!.id])
  t.same(pace, { hasLeft: 12 }, 'the deferred requests were counted')
})

t.test('A delivery whose stored address cannot be decrypted stops no delivery of another tenant', async t => {
  const [smtp, receiver] = [await startSmtp(t), await startReceiver(t)]
  const mailer = createMailer(smtp.url, 'Picket <picket@example.com>')
  t.teardown(mailer.close)
  const lost = await outage(receiver.url, { mailTo: 'ann@ops.example' })
  // it was claimed, then the key was lost and the channel saved again
  const content = JSON.stringify({
    subject: 'Down',
    message_id: '<1@picket.example>',
    references: [],
    date: '2026-11-22T12:00:00Z',
    text: 'Down',
    html: '<p>Down</p>',
  })
  const address = createSecretCipher(randomBytes(32)).encrypt('mailto:ann@ops.example', 'another binding')
  const sql = 'UPDATE deliveries SET request_body = ?, request_address = ? WHERE project_id = ?'
  await execute(db, sql, [Buffer.from(content), address, lost])
  const free = await outage(receiver.url)
  startWorker(t, { url, db, secretKey, mailer })
  for (const id of [free, lost])
    await waitFor(async () => (await readStatuses(id)) === 'delivered', { label: 'both deliveries' })
  t.same(
    smtp.mails.map(({ to }) => to),
    [['ann@ops.example']],
  )
})
