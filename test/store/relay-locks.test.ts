import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { claimRelayMessages } from '../../control-plane/alerting/deliveries/relay/message-actions.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { insertWebhookChannel, send } from '../support/delivery-queue.ts'
import { PATIENT_DELIVERY, startWorker } from '../support/delivery-worker.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secretKey = randomBytes(32)
const secrets = createSecretCipher(secretKey)

/** A tenant with one channel that uses the built-in relay. */
async function relayTenant(receiverUrl: string) {
  const { projectId } = await insertTenant(db)
  const config = { url: receiverUrl, relay_source_id: 'src_1' }
  const channelId = await insertWebhookChannel(db, secrets, projectId, config)
  return {
    projectId,
    channelId,
    send: async (subject: string) => (await send(db, projectId, [channelId], [subject], new Date()))[0]!,
  }
}

const readStatus = async (id: string) =>
  (await query<{ status: string }>(db, 'SELECT status FROM deliveries WHERE id = ?', [id]))[0]!.status

const waitForStatus = (id: string, status: string, label: string) =>
  waitFor(async () => (await readStatus(id)) === status, { label })

/** A webhook receiver that responds on command. */
async function startPatientReceiver(t: Test) {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => void waiting.push(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, waiting }
}

/** Sends a message and waits until its first attempt has failed. The next one is an hour later. */
async function failOnce(tenant: { send(subject: string): Promise<string> }, subject: string): Promise<string> {
  const id = await tenant.send(subject)
  const sql = `UPDATE relay_messages SET next_attempt_at = now() + interval '1 hour'
    WHERE delivery_id = ? AND failures > 0 AND lease_owner IS NULL RETURNING 1`
  await waitFor(async () => (await query(db, sql, [id])).length === 1, { label: 'the first attempt' })
  return id
}

t.test('A relay channel that a transaction holds locked does not delay the relay of other tenants', async t => {
  const [patient, patientToo] = [await startPatientReceiver(t), await startPatientReceiver(t)]
  const [held, free] = [await relayTenant(patient.url), await relayTenant(patientToo.url)]
  startWorker(t, { url, db, secretKey, timing: PATIENT_DELIVERY })
  const [first, other] = [await held.send('monitor:a'), await free.send('monitor:b')]
  await waitFor(() => patient.waiting.length + patientToo.waiting.length === 2, { label: 'both requests' })
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM alert_channels WHERE id = ? FOR UPDATE', [held.channelId])
  patient.waiting[0]!.end()
  patientToo.waiting[0]!.end()
  await waitForStatus(other, 'delivered', 'the result of the other tenant')
  const next = await free.send('monitor:c')
  await waitFor(() => patientToo.waiting.length === 2, { label: 'the next message of the other tenant' })
  patientToo.waiting[1]!.end()
  await waitForStatus(next, 'delivered', 'the next result of the other tenant')
  t.equal(await readStatus(first), 'pending')
  await lock.rollback()
  await waitForStatus(first, 'delivered', 'the result of the locked channel')
  t.equal(patient.waiting.length, 1, 'it was sent once')
})

t.test('While a channel and its log are being deleted, the relay sends and ends the messages of others', async t => {
  const receiver = await startReceiver(t)
  receiver.always(503)
  const [held, free] = [await relayTenant(receiver.url), await relayTenant(receiver.url)]
  const worker = startWorker(t, { url, db, secretKey, timing: PATIENT_DELIVERY })
  const [due, old] = [await failOnce(held, 'monitor:a'), await failOnce(held, 'monitor:b')]
  const [otherDue, otherOld] = [await failOnce(free, 'monitor:a'), await failOnce(free, 'monitor:b')]
  receiver.always(200)
  // what a deletion locks before it has come to the messages of the relay
  const deletion = await openTransaction(db)
  await query(deletion, 'SELECT FROM alert_channels WHERE id = ? FOR UPDATE', [held.channelId])
  await query(deletion, 'SELECT FROM deliveries WHERE channel_id = ? FOR UPDATE', [held.channelId])
  await execute(
    db,
    `UPDATE relay_messages SET handed_over_at = now() - interval '24 hours' WHERE delivery_id = ANY (?::text[])`,
    [[old, otherOld]],
  )
  await execute(
    db,
    `UPDATE relay_messages SET next_attempt_at = now() - interval '1 second' WHERE delivery_id = ANY (?::text[])`,
    [[due, otherDue]],
  )
  worker.wakeRelay()
  await waitForStatus(otherOld, 'dead', 'the end of the old message of the other tenant')
  await waitForStatus(otherDue, 'delivered', 'the message of the other tenant')
  t.same([await readStatus(due), await readStatus(old)], ['pending', 'pending'])
  await deletion.rollback()
  await waitForStatus(old, 'dead', 'the end of the old message')
  await waitForStatus(due, 'delivered', 'the message that is due')
})

t.test('Waiting for the key of a channel does not count as a failure of its receiver', async t => {
  const receiver = await startReceiver(t)
  receiver.always(503)
  const tenant = await relayTenant(receiver.url)
  const worker = startWorker(t, { url, db, secretKey, timing: PATIENT_DELIVERY })
  const id = await failOnce(tenant, 'monitor:a')
  await worker.stop()
  const readState = async () => {
    const sql =
      'SELECT failures, lease_owner AS "owner", next_attempt_at AS "dueAt" FROM relay_messages WHERE delivery_id = ?'
    return (await query<{ failures: number; owner: string | null; dueAt: Date }>(db, sql, [id]))[0]!
  }
  const before = await readState()
  const claiming = { owner: uuidv7(), leaseMs: 30_000, limit: 10, capacity: 10, takesOver: true }
  const tools = { secrets: createSecretCipher(randomBytes(32)), publicUrl: 'http://picket.test' }
  let at = new Date(before.dueAt.getTime() + 1_000)
  for (let round = 1; round <= 3; round++) {
    const { messages } = await db.transaction(tx => claimRelayMessages(tx, claiming, tools, at))
    t.same(messages, [], 'nothing is sent without the key')
    const { failures, owner, dueAt } = await readState()
    t.same({ failures, owner }, { failures: before.failures, owner: null })
    t.ok(dueAt > at, 'another process may claim it later')
    at = new Date(dueAt.getTime() + 1_000)
  }
})
