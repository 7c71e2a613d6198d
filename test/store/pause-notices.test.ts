import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { AccountEmail } from '../../control-plane/accounts/email/outbox/account-email.tsx'
import { decryptMail } from '../../control-plane/accounts/email/outbox/store.ts'
import { insertMember } from '../../control-plane/accounts/members/store.ts'
import { insertUser } from '../../control-plane/accounts/registration/store.ts'
import { recordChannelResults } from '../../control-plane/alerting/deliveries/attempts/channel-failure-actions.ts'
import { buildPauseEmail } from '../../control-plane/alerting/deliveries/attempts/pause-notices/pause-email.ts'
import { startPauseNoticeWorker } from '../../control-plane/alerting/deliveries/attempts/pause-notices/worker.ts'
import { up } from '../../control-plane/foundation/migrations/postgres/0078-pause-notices.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const secretKey = randomBytes(32)
const secrets = createSecretCipher(secretKey)
const now = new Date()

/** An organization with channels, and members whose addresses are proven or not. */
async function setUp(t: Teardown, names: string[]) {
  const { url } = await createDatabase(t)
  const db = createPostgres(url, 6)
  t.teardown(() => db.destroy())
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const where = { projectId, monitorIds: [], url: 'http://127.0.0.1:9/', secretKey, count: names.length }
  const channels = await insertManyChannels(db, where)
  for (const [i, name] of names.entries())
    await execute(db, 'UPDATE alert_channels SET name = ? WHERE id = ?', [name, channels[i]!])
  const addMember = async (
    email: string,
    role: 'admin' | 'editor',
    { isProven = true, awaitsProof = false, organizationId = tenant.organizationId } = {},
  ) => {
    const userId = newId()
    await db.transaction(async tx => {
      await insertUser(tx, { userId, email, name: null, now })
      await insertMember(tx, { organizationId, userId, role, awaitsProof, now })
    })
    if (isProven) await execute(db, 'UPDATE users SET email_proven_at = ? WHERE id = ?', [now, userId])
    return userId
  }
  /** Ends this number of deliveries of a channel with a failure. */
  const fail = (channelId: string, count: number) => {
    const ended = Array.from({ length: count }, () => ({ channelId, succeeded: false }))
    return db.transaction(tx => recordChannelResults(tx, ended, new Date()))
  }
  const mails = async (): Promise<AccountEmail[]> => {
    const rows = await query<{ id: string; letter: Buffer }>(db, 'SELECT id, letter FROM account_mails ORDER BY id')
    return rows.map(({ id, letter }) => decryptMail(letter, id, secrets) as AccountEmail)
  }
  /** Runs a round of the worker. */
  const announce = async (outcome = 'ok') => {
    const metrics = createMetrics()
    const publicUrl = 'https://picket.example.com'
    const worker = startPauseNoticeWorker({ db, secrets, publicUrl, log: createLog('test', 'silent'), metrics })
    const isRun = async () => (await metrics.render()).text.includes(`loop="pause-notices",outcome="${outcome}"} 1`)
    await waitFor(isRun, { label: 'a round' })
    await worker.stop()
  }
  return { db, projectId, channels, addMember, fail, mails, announce }
}

t.test('The admins of an organization get one email when a channel is paused after failed deliveries', async t => {
  const { channels, addMember, fail, mails, announce } = await setUp(t, ['Ops webhook'])
  const [channel] = channels
  await addMember('admin@example.com', 'admin')
  await addMember('editor@example.com', 'editor')
  await addMember('unproven@example.com', 'admin', { isProven: false })
  await addMember('waiting@example.com', 'admin', { awaitsProof: true })
  await fail(channel!, 49)
  await announce()
  t.same(await mails(), [], 'a channel that is not paused is not announced')
  await fail(channel!, 1)
  // as two processes
  await Promise.all([announce(), announce()])
  await announce()
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, {
    to: 'admin@example.com',
    subject: 'Alerts to the channel Ops webhook are paused',
    link: { url: `https://picket.example.com/settings/channels/${channel}` },
  })
  t.match(mail!.paragraphs.join('\n'), /paused the channel “Ops webhook” of .*\nReason: 50 deliveries in a row failed/)
})

t.test('Channels that are paused together are one email, and later ones are announced after an hour', async t => {
  const { db, channels, addMember, fail, mails, announce } = await setUp(t, ['One', 'Two', 'Three'])
  const [one, two, three] = channels
  await addMember('admin@example.com', 'admin')
  await fail(one!, 50)
  await fail(two!, 50)
  await announce()
  t.match(await mails(), [{ subject: /^Alerts to 2 channels of .* are paused$/ }])
  await fail(three!, 50)
  await announce()
  t.equal((await mails()).length, 1, 'not within the hour')
  await execute(
    db,
    `UPDATE alert_channels SET pause_announced_at = pause_announced_at - interval '61 minutes',
    paused_at = paused_at - interval '61 minutes' WHERE id <> ?`,
    [three!],
  )
  await announce()
  t.match((await mails())[1], { subject: 'Alerts to the channel Three are paused' })
})

t.test('A channel that was resumed and is paused again is announced again', async t => {
  const { db, channels, addMember, fail, mails, announce } = await setUp(t, ['Ops'])
  await addMember('admin@example.com', 'admin')
  await fail(channels[0]!, 50)
  await announce()
  await execute(
    db,
    `UPDATE alert_channels SET is_paused = false, consecutive_failures = 0, paused_at = NULL,
    paused_reason = NULL, pause_announced_at = pause_announced_at - interval '2 hours'`,
  )
  await fail(channels[0]!, 50)
  await announce()
  t.equal((await mails()).length, 2)
})

t.test('Pauses from before the migration, and channels of deleted organizations, are not announced', async t => {
  const { db, channels, addMember, fail, mails, announce } = await setUp(t, ['Old', 'New'])
  await addMember('admin@example.com', 'admin')
  await fail(channels[0]!, 50)
  await execute(db, 'DROP INDEX alert_channels_paused')
  await execute(db, 'ALTER TABLE alert_channels DROP COLUMN pause_announced_at')
  await up(db)
  await announce()
  t.same(await mails(), [])
  await fail(channels[1]!, 50)
  await execute(db, `UPDATE organizations SET deleted_at = now()`)
  await announce()
  t.same(await mails(), [])
})

t.test('An organization whose pauses cannot be announced does not keep later ones from theirs', async t => {
  const { db, projectId, channels, addMember, fail, mails, announce } = await setUp(t, ['First'])
  const other = await insertTenant(db)
  await addMember('admin@example.com', 'admin', { organizationId: other.organizationId })
  const where = { projectId: other.projectId, monitorIds: [], url: 'http://127.0.0.1:9/', secretKey, count: 1 }
  const [second] = await insertManyChannels(db, where)
  await execute(
    db,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE OF pause_announced_at ON alert_channels FOR EACH ROW
       WHEN (NEW.project_id = '${projectId}') EXECUTE FUNCTION refuse()`,
  )
  await fail(channels[0]!, 50)
  await fail(second!, 50)
  await announce('failed')
  t.match(await mails(), [{ to: 'admin@example.com', link: { url: new RegExp(`${second}$`) } }])
})

t.test('An email names at most ten channels', async t => {
  const channels = Array.from({ length: 12 }, (_, i) => ({ id: `c${i}`, name: `Channel ${i}`, reason: 'it failed' }))
  const { subject, paragraphs, link } = buildPauseEmail('a@example.com', {
    organization: 'Acme',
    channels,
    publicUrl: 'https://picket.example.com',
  })
  t.equal(subject, 'Alerts to 12 channels of Acme are paused')
  t.match(paragraphs[0], /“Channel 9”, 2 more of Acme\. No alerts are sent to them until they are resumed\.$/)
  t.same(link, { label: 'Open the channels', url: 'https://picket.example.com/settings/channels' })
})
