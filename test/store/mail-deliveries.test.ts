import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
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

t.test('A mail server that refuses connections pauses no channel; one that refuses the mails does', async t => {
  const smtp = await startSmtp(t)
  smtp.replyWith(...new Array<string>(2).fill('554 5.7.1 Spam'))
  const rows: [mailUrl: string, end: string, paused: number][] = [
    ['smtp://127.0.0.1:1', 'failed after 3', 0],
    [smtp.url, 'failed after 1', 2],
  ]
  await Promise.all(
    rows.map(async ([mailUrl, end, paused]) => {
      const { url, db, ends } = await outage(t, { channels: 2, monitors: 1, failures: 49 })
      const mailer = createMailer(mailUrl, FROM)
      t.teardown(mailer.close)
      startWorker(t, { url, db, secretKey, mailer, timing: PATIENT_DELIVERY })
      await waitFor(async () => !/pending/.test(await ends()), { label: end })
      t.equal(await ends(), end)
      t.equal(await pausedChannels(db), paused)
    }),
  )
})
