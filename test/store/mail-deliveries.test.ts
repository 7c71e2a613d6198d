import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { replayDelivery } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createMailer } from '../../control-plane/foundation/platform/mail/mailer.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { confirmAddresses } from '../support/addresses.ts'
import { createDatabase } from '../support/database.ts'
import { PATIENT_DELIVERY, startWorker } from '../support/delivery-worker.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { publishWithoutFanOut, runFanOut } from '../support/publishing.ts'
import { startSmtp } from '../support/smtp.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const FROM = 'Picket <picket@example.com>'
const secretKey = randomBytes(32)

/** A database with a tenant whose mail channels have deliveries about `monitors` each. The channels have failed `failures` times. */
async function outage(
  t: Teardown,
  { channels, monitors, failures = 0 }: { channels: number; monitors: number; failures?: number },
) {
  const { url } = await createDatabase(t)
  const db = createPostgres(url)
  t.teardown(() => db.destroy())
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const monitorIds = await insertMonitors(db, projectId, monitors)
  const where = { projectId, monitorIds, url: 'http://127.0.0.1:9/', secretKey, count: channels }
  for (const [i, id] of (await insertManyChannels(db, where)).entries()) {
    const to = `ops-${i}@example.com`
    const config = encryptConfig({ to: [to] }, { id, projectId }, createSecretCipher(secretKey))
    await execute(
      db,
      `UPDATE alert_channels SET type = 'email', signing_secret = NULL, config = ?, consecutive_failures = ? WHERE id = ?`,
      [config, failures, id],
    )
    await confirmAddresses(db, tenant.organizationId, to)
  }
  const changes = monitorIds.map(monitorId => ({ monitorId, status: 'down' as const }))
  await publishWithoutFanOut(db, tenant, changes, new Date())
  await runFanOut(db, new Date())
  /** "delivered after 1" */
  const ends = async () => {
    const sql = `SELECT DISTINCT status || ' after ' || jsonb_array_length(attempts) AS "end" FROM deliveries ORDER BY 1`
    return (await query<{ end: string }>(db, sql)).map(({ end }) => end).join()
  }
  return { url, db, ends }
}

const pausedChannels = async (db: Db) =>
  (await query(db, 'SELECT FROM alert_channels WHERE is_paused OR consecutive_failures >= 50')).length

t.test('Mails that find no free connection stay queued: each is sent once, with one attempt', async t => {
  const { url, db, ends } = await outage(t, { channels: 6, monitors: 10 })
  const sent: string[] = []
  const smtp = await startSmtp(t, {
    onData(stream, _session, done) {
      buffer(stream).then(bytes => {
        sent.push(/^Message-ID: (.*)$/im.exec(bytes.toString())![1]!)
        setTimeout(done, 100)
      })
    },
  })
  const mailer = createMailer(smtp.url, FROM, 20)
  t.teardown(mailer.close)
  startWorker(t, { url, db, secretKey, mailer, timing: PATIENT_DELIVERY })
  await waitFor(async () => !/pending/.test(await ends()), { label: 'the end of all deliveries' })
  t.equal(await ends(), 'delivered after 1')
  t.equal(sent.length, 60)
  t.equal(new Set(sent).size, 60)
})

t.test('A mail server that refuses the mails pauses their channels', async t => {
  const smtp = await startSmtp(t)
  smtp.replyWith(...new Array<string>(2).fill('554 5.7.1 Spam'))
  const { url, db, ends } = await outage(t, { channels: 2, monitors: 1, failures: 49 })
  const mailer = createMailer(smtp.url, FROM)
  t.teardown(mailer.close)
  startWorker(t, { url, db, secretKey, mailer, timing: PATIENT_DELIVERY })
  await waitFor(async () => !/pending/.test(await ends()), { label: 'the end of all deliveries' })
  t.equal(await ends(), 'failed after 1')
  t.equal(await pausedChannels(db), 2)
})

t.test(
  'A mail server that refuses connections pauses no channel, and gets each mail once when it accepts them',
  async t => {
    const smtp = await startSmtp(t)
    const [refusing, accepting] = [createMailer('smtp://127.0.0.1:1', FROM), createMailer(smtp.url, FROM)]
    t.teardown(accepting.close)
    const { url, db, ends } = await outage(t, { channels: 2, monitors: 1, failures: 49 })
    const mailer = { ...refusing }
    const worker = startWorker(t, { url, db, secretKey, mailer, timing: PATIENT_DELIVERY })
    /** makes attempts that wait due, until each mail has `count` of them or has ended */
    const untilAttempted = (count: number) =>
      waitFor(
        async () => {
          const due = `next_attempt_at = now() - interval '1 second'`
          await execute(db, `UPDATE deliveries SET ${due} WHERE status = 'pending' AND next_attempt_at > now()`)
          await execute(db, `UPDATE delivery_lanes SET ${due} WHERE lease_owner IS NULL AND next_attempt_at > now()`)
          worker.wake()
          const waiting = `SELECT FROM deliveries WHERE status = 'pending' AND jsonb_array_length(attempts) < ?`
          return (await query(db, waiting, [count])).length === 0
        },
        { label: `${count} attempts` },
      )
    const counted = async () => (await query<{ sum: number }>(db, 'SELECT sum(used) AS sum FROM mail_counts'))[0]!.sum
    await untilAttempted(5)
    t.match(await ends(), /^pending after/)
    mailer.send = accepting.send
    await untilAttempted(14)
    t.match(await ends(), /^delivered after/)
    t.equal(smtp.mails.length, 2)
    t.equal(await pausedChannels(db), 0)
    const before = Number(await counted())

    mailer.send = refusing.send
    const [mail] = await query<{ id: string; projectId: string }>(
      db,
      'SELECT id, project_id AS "projectId" FROM deliveries LIMIT 1',
    )
    await replayDelivery(db, mail!.projectId, mail!.id, new Date())
    await untilAttempted(12)
    mailer.send = accepting.send
    await untilAttempted(14)
    t.match(await ends(), /^delivered after/)
    t.equal(smtp.mails.length, 3)
    t.equal(Number(await counted()), before * 1.5, 'a mail that is sent again counts once')
  },
)
