import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { sealConfig, sealSigningSecret } from '../../control-plane/channels/sealed.ts'
import { enqueueDeliveries, replayDelivery } from '../../control-plane/deliveries/actions.ts'
import { findDelivery } from '../../control-plane/deliveries/store.ts'
import { startDeliveryWorker } from '../../control-plane/deliveries/worker.ts'
import { insertEvents } from '../../control-plane/events/store.ts'
import { createMetrics } from '../../control-plane/platform/metrics.ts'
import { createPostgres, type Db, execute, listen, query } from '../../control-plane/platform/postgres.ts'
import { createSecrets } from '../../control-plane/platform/secrets.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/log.ts'
import { createDatabase } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertTenant, type Tenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secrets = createSecrets(randomBytes(32))
const log = createLog('test', 'silent')
const tenant = await insertTenant(db)

function startWorker(t: Test) {
  const egress = createEgress({ allow: ['127.0.0.0/8'] })
  const worker = startDeliveryWorker({
    db,
    secrets,
    egress,
    log,
    metrics: createMetrics(),
    publicUrl: 'http://picket.test',
    mailer: null,
  })
  const listener = listen(url, ['deliveries'], worker.wake, log)
  t.teardown(async () => {
    await listener.stop()
    await worker.stop()
  })
  return worker
}

async function insertChannel(db: Db, { projectId }: Tenant, receiverUrl: string): Promise<string> {
  const channel = { id: uuidv7(), projectId }
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, signing_secret, is_default, created_at, updated_at)
     VALUES (:id, :projectId, 'Hook', 'webhook', :config, :secret, false, now(), now())`,
    {
      ...channel,
      config: sealConfig({ url: receiverUrl, headers: { 'X-Api-Key': 'hush' } }, channel, secrets),
      secret: sealSigningSecret('whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', channel, secrets),
    },
  )
  return channel.id
}

/** Queues `names.length` events about one subject and answers the delivery ids. */
async function send(channelId: string, subject: string, count = 1): Promise<string[]> {
  const events = Array.from({ length: count }, (_, i) => ({
    id: uuidv7(),
    projectId: tenant.projectId,
    name: 'monitor.down' as const,
    subject,
    data: { number: i } as never,
    occurredAt: new Date(),
  }))
  return db.transaction(async tx => {
    await insertEvents(tx, events)
    const rows = events.map(event => ({
      projectId: tenant.projectId,
      channelId,
      eventId: event.id,
      eventName: event.name,
      subject,
    }))
    return enqueueDeliveries(tx, rows, new Date())
  })
}

const entry = async (id: string) => (await findDelivery(db, tenant.projectId, id))!
const ended = (id: string) =>
  waitFor(async () => ((await entry(id)).status === 'pending' ? null : entry(id)), { label: `the end of ${id}` })

t.test('what is queued arrives signed, and the log tells what was sent and answered', async t => {
  const receiver = await startReceiver(t)
  startWorker(t)
  const [id] = await send(await insertChannel(db, tenant, receiver.url), 'monitor:a')
  const [got] = await receiver.waitFor(1)
  t.equal(got?.headers['x-service-delivery'], id)
  t.equal(got?.json.delivery_id, id)
  t.equal(got?.headers['x-api-key'], 'hush')
  const logged = await ended(id!)
  t.equal(logged.status, 'delivered')
  t.equal(logged.attempts.length, 1)
  t.equal(logged.attempts[0]?.response_code, 200)
  t.equal(logged.requestBody?.toString(), got?.rawBody)
  t.equal(logged.requestHeaders?.['x-api-key'], '********', 'a secret header is masked in the log')
})

t.test('a receiver that answers 500 twice gets the same id and bytes after 1 s and 5 s', async t => {
  const receiver = await startReceiver(t)
  startWorker(t)
  receiver.answerWith(500, 'reset', 200)
  const [id] = await send(await insertChannel(db, tenant, receiver.url), 'monitor:a')
  const [first, second, third] = await receiver.waitFor(3)
  t.equal((await ended(id!)).status, 'delivered')
  t.same([second?.rawBody, third?.rawBody], [first?.rawBody, first?.rawBody])
  t.same([second?.headers['x-service-delivery'], third?.headers['x-service-delivery']], [id, id])
  const gaps = [second!.atMs - first!.atMs, third!.atMs - second!.atMs]
  t.ok(gaps[0]! >= 1_000 && gaps[0]! < 2_500, `attempt 2 came after ${gaps[0]} ms`)
  t.ok(gaps[1]! >= 5_000 && gaps[1]! < 6_500, `attempt 3 came after ${gaps[1]} ms`)
})

t.test('a hard failure ends a delivery at once and does not stop the next one of its lane', async t => {
  const receiver = await startReceiver(t)
  startWorker(t)
  receiver.answerWith(410)
  const ids = await send(await insertChannel(db, tenant, receiver.url), 'monitor:a', 2)
  t.equal((await ended(ids[0]!)).status, 'failed')
  t.equal((await ended(ids[1]!)).status, 'delivered')
  t.equal(receiver.received.length, 2)
})

t.test('deliveries about one subject keep their order, even while the first is retried', async t => {
  const receiver = await startReceiver(t)
  startWorker(t)
  receiver.answerWith(503)
  const ids = await send(await insertChannel(db, tenant, receiver.url), 'monitor:a', 3)
  const got = await receiver.waitFor(4)
  t.same(
    got.map(one => one.json.delivery_id),
    [ids[0], ids[0], ids[1], ids[2]],
  )
})

t.test('a channel sends at most 8 at once, and a receiver that hangs delays no other channel', async t => {
  const hanging = await startReceiver(t)
  const healthy = await startReceiver(t)
  hanging.always('hang')
  startWorker(t)
  const slow = await insertChannel(db, tenant, hanging.url)
  const quick = await insertChannel(db, tenant, healthy.url)
  for (let i = 0; i < 20; i++) await send(slow, `monitor:${i}`)
  await hanging.waitFor(8)
  const startedMs = Date.now()
  await send(quick, 'monitor:a')
  await healthy.waitFor(1)
  t.ok(Date.now() - startedMs < 1_000, 'the healthy channel was served at once')
  t.equal(hanging.received.length, 8)
  await hanging.close()
  await execute(db, 'DELETE FROM alert_channels WHERE id = ?', [slow])
})

t.test('50 failed deliveries in a row pause a channel; the rest is skipped and can be replayed after', async t => {
  const receiver = await startReceiver(t)
  receiver.always(400)
  const channelId = await insertChannel(db, tenant, receiver.url)
  const ids = await send(channelId, 'monitor:a', 60)
  startWorker(t)
  const last = await ended(ids.at(-1)!)
  t.equal(last.status, 'skipped')
  const [channel] = await query<{ is_paused: boolean; paused_reason: string; consecutive_failures: number }>(
    db,
    'SELECT is_paused, paused_reason, consecutive_failures FROM alert_channels WHERE id = ?',
    [channelId],
  )
  t.match(channel, { is_paused: true, consecutive_failures: 50, paused_reason: /50 deliveries in a row failed/ })
  t.equal(receiver.received.length, 50)

  await t.rejects(replayDelivery(db, tenant.projectId, last.id, new Date()), /the channel is paused/)
  const [whilePaused] = await send(channelId, 'monitor:b')
  t.equal((await entry(whilePaused!)).status, 'skipped')

  receiver.always(200)
  await execute(db, 'UPDATE alert_channels SET is_paused = false, consecutive_failures = 0 WHERE id = ?', [channelId])
  await replayDelivery(db, tenant.projectId, last.id, new Date())
  t.equal((await ended(last.id)).status, 'delivered')
})

t.test('a replay sends the stored bytes again and says so', async t => {
  const receiver = await startReceiver(t)
  startWorker(t)
  const [id] = await send(await insertChannel(db, tenant, receiver.url), 'monitor:a')
  await ended(id!)
  await replayDelivery(db, tenant.projectId, id!, new Date())
  const [first, second] = await receiver.waitFor(2)
  t.equal(second?.rawBody, first?.rawBody)
  t.equal(second?.headers['x-service-signature'], first?.headers['x-service-signature'])
  t.equal(second?.headers['x-service-delivery-retry'], 'true')
  t.equal(first?.headers['x-service-delivery-retry'], undefined)
  t.equal((await ended(id!)).attempts.length, 2)
  const stranger = await insertTenant(db)
  await t.rejects(replayDelivery(db, stranger.projectId, id!, new Date()), /not found/, "another tenant's entry")
})

t.test('two workers share the queue and send nothing twice', async t => {
  const receiver = await startReceiver(t)
  const channels = await Promise.all(Array.from({ length: 6 }, () => insertChannel(db, tenant, receiver.url)))
  startWorker(t)
  startWorker(t)
  const ids: string[] = []
  for (let i = 0; i < 120; i++) ids.push(...(await send(channels[i % 6]!, `monitor:${i % 30}`)))
  await Promise.all(ids.map(ended))
  t.equal(receiver.received.length, 120)
  t.equal(new Set(receiver.received.map(one => one.json.delivery_id)).size, 120)
  const lanes = await query(db, 'SELECT 1 FROM delivery_lanes WHERE channel_id = ANY (?)', [channels])
  t.equal(lanes.length, 0, 'no lane is left behind')
})
