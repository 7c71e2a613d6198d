import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { type ClaimRequest, claimLanes } from '../../control-plane/alerting/deliveries/queue/claim-store.ts'
import { DELIVERY_TIMING } from '../../control-plane/alerting/deliveries/queue/lanes.ts'
import { claimMessages } from '../../control-plane/alerting/deliveries/relay/message-store.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { PATIENT_DELIVERY, startWorker } from '../support/delivery-worker.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { publishWithoutFanOut, runFanOut } from '../support/publishing.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secretKey = randomBytes(32)

/** A tenant with pending deliveries to the given number of channels, each about the given number of monitors. */
async function outage(channels: number, monitors: number, receiverUrl = 'http://127.0.0.1:9/') {
  const tenant = await insertTenant(db)
  const monitorIds = await insertMonitors(db, tenant.projectId, monitors)
  const where = { projectId: tenant.projectId, monitorIds, url: receiverUrl, secretKey }
  const ids = await insertManyChannels(db, { ...where, count: channels })
  const changes = monitorIds.map(monitorId => ({ monitorId, status: 'down' as const }))
  const now = new Date()
  await publishWithoutFanOut(db, tenant, changes, now)
  await runFanOut(db, now)
  return { ...tenant, ids: new Set(ids) }
}

function claimer() {
  const owner = uuidv7()
  const { leaseMs } = DELIVERY_TIMING
  let cursors: ClaimRequest['cursors'] = new Map()
  return async (limit: number, held: Record<string, number> = {}, mailLimit = limit) => {
    const claiming = {
      owner,
      leaseMs,
      limit,
      mailLimit,
      takesOver: true,
      fastChannels: [],
      held: new Map(Object.entries(held)),
      cursors,
    }
    const claimed = await db.transaction(tx => claimLanes(tx, claiming, new Date()))
    cursors = claimed.cursors
    return claimed.lanes.map(({ channelId }) => channelId)
  }
}

const forget = () => execute(db, 'DELETE FROM delivery_lanes')

t.test('The next claim contains a delivery of another tenant, although thousands of one tenant are due', async t => {
  const big = await outage(600, 5)
  const claim = claimer()
  t.equal((await claim(256)).filter(id => big.ids.has(id)).length, 256)
  const small = await outage(1, 1)
  const next = await claim(10)
  t.equal(next.length, 10)
  t.equal(next.filter(id => small.ids.has(id)).length, 1)
  await forget()
})

t.test('A claim names the lanes that may have waited for one of the eight places of their channel', async t => {
  const { ids } = await outage(1, 12)
  const [channelId] = ids
  const claim = async () => {
    const claiming = { owner: uuidv7(), leaseMs: DELIVERY_TIMING.leaseMs, limit: 256, mailLimit: 0, takesOver: true }
    const rest = { fastChannels: [], held: new Map(), cursors: new Map() }
    const { lanes } = await db.transaction(tx => claimLanes(tx, { ...claiming, ...rest }, new Date()))
    return lanes.map(lane => lane.hasWaitedForPlace)
  }
  t.same(await claim(), Array(8).fill(false), 'no place was taken')
  t.same(await claim(), [], 'no place is free')
  const free = (count: number) =>
    execute(
      db,
      `DELETE FROM delivery_lanes WHERE channel_id = :channelId AND subject IN (
         SELECT subject FROM delivery_lanes WHERE channel_id = :channelId AND lease_owner IS NOT NULL LIMIT :count)`,
      { channelId: channelId!, count },
    )
  await free(2)
  t.same(await claim(), [true, true], 'the places that became free')
  await free(4)
  t.same(await claim(), [false, false], 'there were more places than lanes')
  await forget()
})

t.test('Three claims of 256 contain a delivery of each of the 700 channels of a tenant', async t => {
  const { ids } = await outage(700, 3)
  const claim = claimer()
  const claimed: string[] = []
  for (let round = 0; round < 3; round++) claimed.push(...(await claim(256)))
  t.equal(claimed.length, 768)
  t.same(new Set(claimed), ids)
  await forget()
})

t.test('A tenant gets half of the places that the others leave free, and the rest stays free', async t => {
  const big = await outage(200, 2)
  const small = await outage(3, 1)
  const claim = claimer()
  const held = { [big.projectId]: 1_020 }
  const claimed = await claim(256, held)
  t.equal(claimed.filter(id => big.ids.has(id)).length, 4)
  t.equal(claimed.filter(id => small.ids.has(id)).length, 3)
  await forget()
})

t.test(
  'A claim takes no more mails than the process has places for, each tenant in turn, and all the webhooks',
  async t => {
    const [big, small, hooks] = [await outage(40, 5), await outage(1, 3), await outage(2, 2)]
    const mails = [...big.ids, ...small.ids]
    await execute(db, `UPDATE alert_channels SET type = 'email' WHERE id = ANY (?)`, [mails])
    const claim = claimer()
    const first = await claim(256, {}, 10)
    t.equal(first.filter(id => hooks.ids.has(id)).length, 4)
    t.equal(first.filter(id => small.ids.has(id)).length, 3)
    t.equal(first.filter(id => big.ids.has(id)).length, 7)
    const later = await outage(1, 1)
    t.same(await claim(256, {}, 0), [...later.ids], 'without a place for a mail')
    t.equal((await claim(256, {}, 1)).length, 1)
    await forget()
  },
)

t.test('Lanes without a project, from a process of the previous version, are claimed too', async t => {
  const { ids } = await outage(20, 1)
  await execute(db, `UPDATE delivery_lanes SET project_id = '00000000-0000-0000-0000-000000000000'`)
  t.same(new Set(await claimer()(256)), ids)
  await forget()
})

/** Hands the deliveries of a tenant over to the relay, with a destination for each channel. */
async function handOverAll(projectId: string) {
  await execute(
    db,
    `WITH destinations AS (
       INSERT INTO relay_destinations (id, project_id, origin, created_at, updated_at)
       SELECT gen_random_uuid(), project_id, 'http://' || channel_id, now(), now()
       FROM deliveries WHERE project_id = :projectId GROUP BY project_id, channel_id RETURNING id, origin
     )
     INSERT INTO relay_messages (delivery_id, destination_id, channel_id, handed_over_at, next_attempt_at)
     SELECT d.id, o.id, d.channel_id, now(), now() - interval '1 second'
     FROM deliveries d JOIN destinations o ON o.origin = 'http://' || d.channel_id WHERE d.project_id = :projectId`,
    { projectId },
  )
  await forget()
}

t.test('In the relay too, a tenant with many slow destinations leaves places, and the next one, to others', async t => {
  const big = await outage(80, 8)
  await handOverAll(big.projectId)
  const owner = uuidv7()
  const claim = async (limit: number) => {
    const request = { owner, leaseMs: DELIVERY_TIMING.leaseMs, limit, capacity: 512, takesOver: true }
    const ids = await db.transaction(tx => claimMessages(tx, request, new Date()))
    const sql = 'SELECT project_id AS project FROM deliveries WHERE id = ANY (?)'
    const rows = await query<{ project: string }>(db, sql, [ids])
    return { big: rows.filter(({ project }) => project === big.projectId).length, all: rows.length }
  }
  t.same(await claim(200), { big: 200, all: 200 })
  t.same(await claim(312), { big: 56, all: 56 }, 'half of all places')
  t.same(await claim(256), { big: 0, all: 0 })
  const small = await outage(3, 2)
  await handOverAll(small.projectId)
  t.same(await claim(1), { big: 0, all: 1 })
  t.same(await claim(255), { big: 0, all: 5 })
  await execute(
    db,
    `UPDATE relay_messages SET lease_owner = NULL, next_attempt_at = now() WHERE delivery_id IN (
       SELECT delivery_id FROM relay_messages WHERE lease_owner IS NOT NULL AND delivery_id IN (
         SELECT id FROM deliveries WHERE project_id = ?) LIMIT 10)`,
    [big.projectId],
  )
  t.same(await claim(251), { big: 7, all: 7 }, 'half of what the six of the other tenant leave')
  await execute(db, 'DELETE FROM relay_messages')
})

t.test('The webhook of a tenant arrives while 3,000 receivers of another tenant hang', async t => {
  const [hanging, prompt] = [await startReceiver(t), await startReceiver(t)]
  hanging.always('hang')
  const big = await outage(3_000, 1, hanging.url)
  // no attempt ends, so no request leaves its place
  startWorker(t, { url, db, secretKey, timing: PATIENT_DELIVERY })
  t.teardown(hanging.close)
  await hanging.waitFor(1_024)
  await outage(1, 1, prompt.url)
  await prompt.waitFor(1)
  t.ok(hanging.received.length < 3_000, 'most of the big one’s are still waiting')
  const ended = `SELECT count(*) AS n FROM deliveries WHERE project_id = ? AND jsonb_array_length(attempts) > 0`
  t.same(await query(db, ended, [big.projectId]), [{ n: 0 }], 'none of the big one’s had made place')
  await waitFor(() => hanging.received.length === 1_024, { label: 'no more than half of the places' })
})

t.test('Leases that seem to have ended keep their places, and are taken over only when that is allowed', async t => {
  await forget()
  const { ids, projectId } = await outage(1, 12)
  const later = new Date(Date.now() + 2 * DELIVERY_TIMING.leaseMs)
  const base = { leaseMs: DELIVERY_TIMING.leaseMs, limit: 256 }
  const lanes = { ...base, mailLimit: 0, fastChannels: [], held: new Map(), cursors: new Map() }
  const claimOfLanes = async (takesOver: boolean, now: Date) => {
    const claiming = { ...lanes, owner: uuidv7(), takesOver }
    return (await db.transaction(tx => claimLanes(tx, claiming, now))).lanes.length
  }
  const claimOfMessages = async (takesOver: boolean, now: Date) => {
    const claiming = { ...base, owner: uuidv7(), capacity: 512, takesOver }
    return (await db.transaction(tx => claimMessages(tx, claiming, now))).length
  }
  t.equal(ids.size, 1)
  for (const [what, claim] of Object.entries({ lanes: claimOfLanes, messages: claimOfMessages })) {
    if (what === 'messages') await handOverAll(projectId)
    t.equal(await claim(true, new Date()), 8, what)
    t.equal(await claim(false, later), 0, what)
    t.equal(await claim(true, later), 8, what)
  }
  await execute(db, 'DELETE FROM relay_messages')
})
