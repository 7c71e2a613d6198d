import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { assertSecretKey } from '../../control-plane/operations/admin/key-check-store.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { createDeliveryQueue } from '../support/delivery-queue.ts'
import { startWorker } from '../support/delivery-worker.ts'
import { startNats } from '../support/nats.ts'
import { startProgram } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

const queue = await createDeliveryQueue(t)
const { db, url } = queue
const right = queue.secretKey.toString('base64')
const wrong = randomBytes(32).toString('base64')
const ENV = {
  DATABASE_URL: url,
  CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
  NATS_URL: (await startNats(t)).url,
  PORT: '0',
  OPERATOR_PORT: '0',
  GRPC_PORT: '0',
  ROLES: 'deliver',
  EGRESS_ALLOW: '127.0.0.0/8',
}
const REFUSED =
  /^SECRET_KEY is not the key with which the secrets in this database are encrypted; set that key again, or as SECRET_KEY_OLD while the key is changed; if it is lost, run: npm run admin -- secrets accept-key$/

async function isReady(env: Record<string, string>): Promise<boolean> {
  const program = startProgram(t, { program: 'dist/control-plane.js', env: { ...ENV, ...env } })
  await program.untilEvent('ready').catch(() => {})
  const isStarted = program.lines.some(({ event }) => event === 'ready')
  const code = await program.stop()
  if (isStarted) return true
  t.equal(code, 1)
  const sentences = program.lines.flatMap(({ text }) => text ?? [])
  t.equal(sentences.length, 1)
  t.match(sentences[0], REFUSED)
  t.notOk(JSON.stringify(program.lines).includes(wrong), 'the key is not printed')
  return false
}

const checkValues = () => query(db, 'SELECT value FROM secret_key_checks')

t.test('A first start after the migration accepts only a key that decrypts what is stored', async t => {
  // the database of the version before, with a channel
  await execute(db, 'DROP TABLE secret_key_checks')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0068-secret-key-checks'`)
  await queue.channel('http://127.0.0.1:1/')
  t.notOk(await isReady({ SECRET_KEY: wrong }))
  t.same(await checkValues(), [])
  t.ok(await isReady({ SECRET_KEY: right }))
  t.equal((await checkValues()).length, 1)
})

t.test('A start with another key ends with a sentence that says what to do, and ends no delivery', async t => {
  const receiver = await startReceiver(t)
  const [id] = await queue.send(await queue.channel(receiver.url), 'monitor:a')
  t.notOk(await isReady({ SECRET_KEY: wrong }))
  t.match(await queue.entry(id!), { status: 'pending', attempts: [] })
  t.ok(await isReady({ SECRET_KEY: wrong, SECRET_KEY_OLD: right }), 'while the key is changed')
  t.equal((await queue.ended(id!)).status, 'delivered')
})

t.test('A delivery that a running process cannot decrypt waits for a process that can', async t => {
  const receiver = await startReceiver(t)
  const [id] = await queue.send(await queue.channel(receiver.url), 'monitor:b')
  const isDeferred = async () =>
    (await query(db, 'SELECT FROM deliveries WHERE id = ? AND next_attempt_at > created_at', [id!])).length > 0
  const other = startWorker(t, { url, db, secretKey: randomBytes(32) })
  await waitFor(isDeferred, { label: 'the deferred delivery' })
  await other.stop()
  t.match(await queue.entry(id!), { status: 'pending', attempts: [] })

  await execute(db, 'UPDATE deliveries SET next_attempt_at = now() WHERE id = ?', [id!])
  await execute(db, 'UPDATE delivery_lanes SET next_attempt_at = now()')
  queue.startWorker(t)
  t.match(await queue.ended(id!), { status: 'delivered', attempts: { length: 1 } })
})

t.test('A delivery that nothing decrypts for a day ends as failed', async t => {
  const yesterday = new Date(Date.now() - 24 * 3_600_000)
  const channel = await queue.channel('http://127.0.0.1:1/')
  await execute(db, 'UPDATE alert_channels SET config = ? WHERE id = ?', [
    createSecretCipher(randomBytes(32)).encrypt('{}', 'x'),
    channel,
  ])
  queue.startWorker(t)
  const [id] = await queue.sendAt(yesterday, channel, 'monitor:c')
  t.match(await queue.ended(id!), { status: 'failed', attempts: [{ error: /SECRET_KEY does not decrypt this value/ }] })
})

t.test('A lost key is replaced by the command that the error names', async t => {
  const admin = startProgram(t, {
    program: 'dist/admin.js',
    args: ['secrets', 'accept-key'],
    env: { ...ENV, SECRET_KEY: wrong },
  })
  t.equal(await admin.exited, 0)
  t.same(admin.lines, [{ text: 'SECRET_KEY is accepted as the key of this installation' }])
  t.ok(await isReady({ SECRET_KEY: wrong }))
  t.notOk(await isReady({ SECRET_KEY: right }))
})

t.test('Of two processes that first start with different keys, one is refused', async t => {
  const fresh = createPostgres((await createDatabase(t)).url)
  t.teardown(() => fresh.destroy())
  const starts = [right, wrong].map(key =>
    assertSecretKey(fresh, createSecretCipher(Buffer.from(key, 'base64'))).catch((error: Error) => error.message),
  )
  const results = await Promise.all(starts)
  t.equal(results.filter(result => result === undefined).length, 1)
  t.match(results.find(Boolean), REFUSED)
})
