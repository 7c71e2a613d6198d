import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { buildPasswordResetEmail } from '../../control-plane/accounts/email/outbox/account-email.tsx'
import { enqueueMail } from '../../control-plane/accounts/email/outbox/actions.ts'
import { encryptChatTokens } from '../../control-plane/alerting/channels/chat-tokens.ts'
import { encryptAddress } from '../../control-plane/alerting/deliveries/rendering/encrypted-address.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR, withAuditActor } from '../../control-plane/foundation/web/auth/audit-actor.ts'
import { insertFileParts } from '../../control-plane/integrations/import-export/jobs/job-store.ts'
import { SECRET_COMMANDS } from '../../control-plane/operations/admin/commands/secrets.ts'
import { ENCRYPTED_COLUMNS } from '../../control-plane/operations/admin/encrypted-columns.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { createRecords } from '../support/records.ts'

const [before, after] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
const engines = {
  DATABASE_URL: (await createDatabase(t)).url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
}
const first = await startApi(t, { ...engines, SECRET_KEY: before })
const { db } = first
const account = await first.tenant('business')
const { key } = account
const records = await createRecords(first, account)
const heartbeat = { name: 'Backup', type: 'heartbeat' }
const once = { key, body: heartbeat, headers: { 'idempotency-key': 'backup' } }
const made = (await first.call('POST', '/monitors', once)).body.data
const page = (await first.call('GET', `/status-pages/${records.page_id}`, { key })).body.data
const hook = new URLSearchParams({ webhook: 'https://hooks.example.com/status' })
const subscribe = (form: URLSearchParams, { origin } = first) =>
  fetch(`${origin}/status/${page.slug}/subscribe`, { method: 'POST', body: form })
await subscribe(hook)

await insertChatTokens()
await db.transaction(tx =>
  enqueueMail(tx, createSecretCipher(Buffer.from(before, 'base64')), buildPasswordResetEmail('a@example.com', '')),
)

await encryptDeliveryAddress()
await db.transaction(tx =>
  insertFileParts(
    tx,
    createSecretCipher(Buffer.from(before, 'base64')),
    { projectId: account.projectId, jobId: records.import_id },
    ['version: 1'],
  ),
)

/** As the delivery worker does, which does not run here. */
async function encryptDeliveryAddress(): Promise<void> {
  const path = `/alerts/channels/${records.alert_channel_id}/test`
  const { id } = (await first.call('POST', path, { key })).body.data
  const secrets = createSecretCipher(Buffer.from(before, 'base64'))
  const address = encryptAddress('https://hooks.example.com/x', { id, projectId: account.projectId }, secrets)
  await execute(db, 'UPDATE deliveries SET request_address = ? WHERE id = ?', [address, id])
}

/** The tokens of a chat installation, and its revocations. */
async function insertChatTokens(): Promise<void> {
  const { projectId } = account
  const ids = { id: uuidv7(), projectId }
  const secrets = createSecretCipher(Buffer.from(before, 'base64'))
  const tokens = encryptChatTokens({ accessToken: 'xoxb-1', refreshToken: null }, ids, secrets)
  await execute(
    db,
    `INSERT INTO chat_installations (id, project_id, team_id, team_name, scopes, tokens, people_due_at, installed_at,
       created_at, updated_at) VALUES (:id, :projectId, 'T7', 'Acme', '{}', :tokens, now(), now(), now(), now())`,
    { ...ids, tokens },
  )
  await execute(
    db,
    `INSERT INTO chat_revocations (id, project_id, team_id, tokens, next_attempt_at, created_at)
     VALUES (:id, :projectId, 'T8', :tokens, now(), now())`,
    { ...ids, tokens },
  )
}

/** Bytes that are stored unencrypted. */
const PLAIN = [
  'partition_checkpoints.data',
  'deliveries.request_body',
  'event_paces.host',
  'mail_counts.subject',
  'password_attempts.subject',
  'status_page_images.bytes',
]

t.test('Every bytea column is covered by the rotation, a hash, or plain', async t => {
  const columns = await query<{ name: string }>(
    db,
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'bytea' ORDER BY 1`,
  )
  const encrypted = ENCRYPTED_COLUMNS.map(({ table, column }) => `${table}.${column}`)
  const unknown = columns.filter(({ name }) => ![...encrypted, ...PLAIN].includes(name) && !name.endsWith('hash'))
  t.same(unknown, [])
})

for (const { table, column } of ENCRYPTED_COLUMNS) {
  t.test(`${table}.${column} has a value to rotate`, async t => {
    const rows = await query(db, `SELECT 1 FROM "${table}" WHERE length("${column}") > 0 LIMIT 1`)
    t.equal(rows.length, 1)
  })
}

const rotate = (unauditedDb: Db = db) =>
  SECRET_COMMANDS['secrets rotate']!.run(
    {
      db: withAuditActor(db, OPERATOR_ACTOR),
      unauditedDb,
      env: { SECRET_KEY: after, SECRET_KEY_OLD: before },
    },
    [],
  )
const check = (secretKey: string) =>
  SECRET_COMMANDS['secrets check']!.run({ db, unauditedDb: db, env: { SECRET_KEY: secretKey } }, [])

/** A connection that breaks during the work. */
function endingAfter(updates: number): Db {
  let left = updates
  const raw = (sql: string, bindings: never) => {
    if (sql.startsWith('UPDATE') && left-- === 0) throw new Error('the connection ended')
    return db.raw(sql, bindings)
  }
  return Object.create(db, { raw: { value: raw } })
}

/** The encrypted values as one API process returns them. */
async function seen(api: typeof first) {
  const paths = [
    '/monitors',
    '/alerts/channels',
    '/alerts/log',
    '/data-sources',
    `/status-pages/${page.id}/subscribers`,
  ]
  const answers = await Promise.all(paths.map(path => api.call('GET', path, { key })))
  const replayed = await api.call('POST', '/monitors', once)
  return { answers: answers.map(({ body }) => body.data), replayed: replayed.body }
}

t.test('A process with both keys reads the state of an interrupted rotation, and the rotation continues', async t => {
  const original = await seen(first)
  await t.rejects(rotate(endingAfter(3)), { message: 'the connection ended' })
  await t.rejects(check(before), { message: /^3 values cannot be decrypted:/ })
  const between = await startApi(t, { ...engines, SECRET_KEY: after, SECRET_KEY_OLD: before })
  t.same(await seen(between), original)
  const writing = await startApi(t, { ...engines, SECRET_KEY: before, SECRET_KEY_OLD: after })
  t.same(await seen(writing), original, 'with either key for encryption')

  // a visitor subscribes again meanwhile, at a process that cannot find the address yet
  await execute(db, "UPDATE page_subscribers SET asked_at = asked_at - interval '1 day'")
  await subscribe(hook, between)

  t.match(await rotate(), /^\d+ values were re-encrypted; SECRET_KEY alone decrypts everything now$/)
  t.match(await rotate(), /^0 values were re-encrypted/, 'again it has nothing to do')
  t.match(await check(after), /^SECRET_KEY decrypts all \d+ encrypted values$/)
  const last = await startApi(t, { ...engines, SECRET_KEY: after })
  t.same(await seen(last), original)
  t.equal(await (await fetch(`${last.origin}${new URL(made.ping_url).pathname}`)).text(), 'OK')

  await subscribe(hook, last)
  const subscribers = await query(db, `SELECT 1 FROM page_subscribers WHERE kind = 'webhook'`)
  t.equal(subscribers.length, 1, 'an address is still one subscriber')
})

t.test('The audit log contains the rotation, and no change of a record', async t => {
  const rows = await query(db, `SELECT action, resource FROM audit_log WHERE actor_kind = 'operator'`)
  t.same(rows, [{ action: 'rotated', resource: 'secret_key' }])
})

t.test('A value that neither key decrypts is named, and all others are re-encrypted', async t => {
  await execute(db, `UPDATE alert_channels SET config = 'x'::bytea WHERE id = ?`, [records.alert_channel_id])
  const next = randomBytes(32).toString('base64')
  const env = { SECRET_KEY: next, SECRET_KEY_OLD: after }
  const rotated = SECRET_COMMANDS['secrets rotate']!.run({ db, unauditedDb: db, env }, [])
  const sentence = `1 values cannot be decrypted:\nalert_channels.config ${records.alert_channel_id}`
  await t.rejects(rotated, { message: sentence })
  await t.rejects(check(next), { message: sentence })
})

t.test('A rotation needs both keys', async t => {
  const run = (env: Record<string, string>) => SECRET_COMMANDS['secrets rotate']!.run({ db, unauditedDb: db, env }, [])
  await t.rejects(run({ SECRET_KEY: after }), { message: /^SECRET_KEY_OLD is not set/ })
  await t.rejects(run({ SECRET_KEY: after, SECRET_KEY_OLD: 'short' }), {
    message: /^SECRET_KEY_OLD must be 32 bytes/,
  })
})
