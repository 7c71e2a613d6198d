import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'
import { storePings } from '../../control-plane/verdict/heartbeats/actions.ts'
import { createPingIntake } from '../../control-plane/verdict/heartbeats/intake/intake-actions.ts'
import { encodeQueuedPing } from '../../control-plane/verdict/heartbeats/intake/queued-ping.ts'
import { PINGS_STREAM, STORED_PING_SUBJECT } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startApi } from '../support/api-server.ts'
import { buildPingArrival, HEARTBEAT, ping } from '../support/heartbeats.ts'
import { startNats } from '../support/nats.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const UNKNOWN_TOKEN = 'a'.repeat(24)

const server = await startNats(t)
const api = await startApi(t, { NATS_URL: server.url })
const { db } = api
const nats = await connectNats(server.url, 'test')
t.teardown(() => nats.close())
const tools = { db, publicUrl: 'https://picket.example' }

async function create() {
  const { data } = (await api.call('POST', '/monitors', { body: HEARTBEAT })).body
  const token: string = data.ping_url.split('/').at(-1)
  return { id: data.id as string, token, url: `${api.origin}/ping/${token}` }
}

/** Locks the row of a monitor until the returned transaction ends. */
async function hold(monitorId: string): Promise<Tx> {
  const tx = await openTransaction(db)
  await query(tx, 'SELECT FROM monitors WHERE id = ? FOR UPDATE', [monitorId])
  return tx
}

/** The stored pings of a monitor: their kinds and the ids of their arrivals. */
const readPings = (monitorId: string) =>
  query<{ kind: string; arrivalId: string }>(
    db,
    'SELECT kind, arrival_id AS "arrivalId" FROM pings WHERE monitor_id = ? ORDER BY number',
    [monitorId],
  )
const countPings = async (monitorId: string) => (await readPings(monitorId)).length
const readStatus = async (monitorId: string) => (await api.call('GET', `/monitors/${monitorId}`)).body.data.status
const untilStored = (monitorId: string, count: number, label: string) =>
  waitFor(async () => (await countPings(monitorId)) >= count, { label })
const untilNoneQueued = () =>
  waitFor(async () => (await nats.manager.streams.info(PINGS_STREAM)).state.messages === 0, {
    label: 'an empty stream of queued pings',
  })

t.test('Queued pings of a locked monitor wait, and those of other monitors are stored', async t => {
  const [held, free] = [await create(), await create()]
  const lock = await hold(held.id)
  const failed = { ...buildPingArrival(held.token, 'fail'), isKept: true }
  const succeeded = { ...buildPingArrival(held.token), isKept: true, receivedAtMs: failed.receivedAtMs + 1 }
  const others = [1, 2].map(() => buildPingArrival(free.token))
  const arrivals = [failed, others[0]!, buildPingArrival(UNKNOWN_TOKEN), succeeded, others[1]!]
  for (const arrival of arrivals) await nats.js.publish(STORED_PING_SUBJECT, encodeQueuedPing(arrival))
  await untilStored(free.id, 2, 'the pings of the free monitor')
  await waitFor(async () => (await nats.manager.streams.info(PINGS_STREAM)).state.messages === 2, {
    label: 'a stream that contains only the pings of the locked monitor',
  })
  t.equal(await countPings(held.id), 0)
  t.equal(await readStatus(free.id), 'up')
  await lock.rollback()
  await untilNoneQueued()
  const stored = (await readPings(held.id)).map(({ arrivalId }) => arrivalId)
  t.same(stored.sort(), [failed.id, succeeded.id].sort(), 'each is stored once')
  t.equal(await readStatus(held.id), 'up', 'as in the order of their arrival')
  t.equal(await countPings(free.id), 2)
})

t.test('Pings of a locked monitor are queued, and those of other monitors are stored', async t => {
  const [held, free] = [await create(), await create()]
  const lock = await hold(held.id)
  const ofHeld = Promise.all(Array.from({ length: 6 }, () => ping(held.url)))
  t.match(await ping(free.url), { status: 200, text: 'OK' })
  t.match(await ping(`${api.origin}/ping/${UNKNOWN_TOKEN}`), { status: 404 })
  for (const answer of await ofHeld) t.match(answer, { status: 200, text: 'OK' })
  t.match(await ping(free.url), { status: 200, text: 'OK' })
  await untilStored(free.id, 2, 'the pings of the free monitor')
  t.equal(await countPings(held.id), 0)
  await lock.rollback()
  await untilNoneQueued()
  t.equal(await countPings(held.id), 6, 'each is stored once')
  t.equal(await readStatus(held.id), 'up')
})

t.test('One batch distinguishes pings of locked monitors and unknown ones, and stores the others', async t => {
  const [held, free] = [await create(), await create()]
  const lock = await hold(held.id)
  const [first, other, unknown, second] = [held.token, free.token, UNKNOWN_TOKEN, held.token].map(token =>
    buildPingArrival(token),
  )
  t.same(await storePings(tools, [first!, other!, unknown!, second!]), ['locked', true, false, 'locked'])
  t.same(await storePings(tools, [first!, unknown!]), ['locked', false], 'also when none can be stored')
  t.same([await countPings(held.id), await countPings(free.id)], [0, 1])
  await lock.rollback()
  t.same(await storePings(tools, [first!, second!]), [true, true])
})

t.test('Another locked row of a monitor delays only its pings', async t => {
  const [held, free] = [await create(), await create()]
  const impatient = createPostgres(api.databaseUrl, { max: 2, lockMs: 200 })
  t.teardown(() => impatient.destroy())
  await storePings(tools, [buildPingArrival(held.token)])
  const lock = await openTransaction(db)
  await query(lock, 'SELECT FROM heartbeats WHERE monitor_id = ? FOR UPDATE', [held.id])
  const batch = [held.token, free.token, held.token].map(token => buildPingArrival(token))
  t.same(await storePings({ ...tools, db: impatient }, batch), ['locked', true, 'locked'])
  t.same([await countPings(held.id), await countPings(free.id)], [1, 1])
  await lock.rollback()
})

t.test('A ping whose monitor is locked for a short time does not override a newer one', async t => {
  const { id, token } = await create()
  const lock = await hold(id)
  const intake = { nats, log: createLog('test', 'silent'), metrics: createMetrics() }
  let attempts = 0
  const accept = createPingIntake(intake, async arrival => {
    attempts++
    if (attempts === 2) {
      await lock.rollback()
      const newer = { ...buildPingArrival(token), receivedAtMs: arrival.receivedAtMs + 1 }
      await storePings(tools, [newer])
    }
    const [answer] = await storePings(tools, [arrival])
    if (answer instanceof Error) throw answer
    return answer!
  })
  await accept(buildPingArrival(token, 'fail'))
  await untilNoneQueued()
  await untilStored(id, 2, 'both pings')
  t.same(
    (await readPings(id)).map(({ kind }) => kind),
    ['success', 'fail'],
  )
  t.equal(await readStatus(id), 'up', 'the failure arrived before the success')
})
