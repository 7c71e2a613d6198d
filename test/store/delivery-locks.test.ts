import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/platform/postgres.ts'
import { createDatabase } from '../support/database.ts'
import { startWorker } from '../support/delivery-worker.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { startReceiver } from '../support/receiver.ts'
import { announceChanges, fanOutAll } from '../support/telling.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secretKey = randomBytes(32)

/** A tenant with one channel and an outage that it has to hear of. */
async function outage(receiverUrl: string) {
  const tenant = await insertTenant(db)
  const monitorIds = await insertMonitors(db, tenant.projectId, 1)
  await insertManyChannels(db, { projectId: tenant.projectId, monitorIds, url: receiverUrl, secretKey, count: 1 })
  await announceChanges(db, tenant, [{ monitorId: monitorIds[0]!, status: 'down' }], new Date())
  await fanOutAll(db, new Date())
  return tenant.projectId
}

const statusOf = async (projectId: string) =>
  (await query<{ status: string }>(db, 'SELECT status FROM deliveries WHERE project_id = ?', [projectId]))[0]!.status

/** A webhook receiver that answers when it is asked to. */
async function startPatientReceiver() {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => void waiting.push(response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, waiting }
}

t.test('a channel that a transaction holds locked does not hold up the deliveries of other tenants', async t => {
  const [patient, other] = [await startPatientReceiver(), await startReceiver(t)]
  const held = await outage(patient.url)
  // what ends on a channel with failures is counted in its row
  await execute(db, 'UPDATE alert_channels SET consecutive_failures = 1 WHERE project_id = ?', [held])
  startWorker(t, { url, db, secretKey })
  await waitFor(() => patient.waiting.length === 1, { label: 'the request to the channel that will be locked' })
  const lock = await db.transaction()
  await query(lock, 'SELECT set_config(?, ?, true)', ['idle_in_transaction_session_timeout', '0'])
  await query(lock, 'SELECT FROM alert_channels WHERE project_id = ? FOR UPDATE', [held])
  patient.waiting[0]!.end()
  const free = await outage(other.url)
  await waitFor(async () => (await statusOf(free)) === 'delivered', { label: 'the delivery of the other tenant' })
  t.equal(await statusOf(held), 'pending')
  await lock.rollback()
  await waitFor(async () => (await statusOf(held)) === 'delivered', { label: 'the delivery whose channel was locked' })
  t.equal(patient.waiting.length, 1, 'it was sent once')
})
