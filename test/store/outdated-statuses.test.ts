import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { renewLeases, takePartitions } from '../../control-plane/verdict/reader/partitions/partition-store.ts'
import { createDatabase } from '../support/database.ts'
import { type StoredReader, storeReader } from '../support/partitions.ts'
import { createScenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const isOutdated = async (id: string) =>
  (await query(db, 'SELECT outdated_monitors(ARRAY[CAST(? AS uuid)])', [id])).length > 0

/** Checks every 30 s with a timeout of 5 s: a region needs 60 s for a check, its re-check and the start of a probe. */
const READERS: [reader: StoredReader, isOutdated: boolean, columns?: string][] = [
  ['unknown', false],
  ['none', true],
  ['dead', true],
  ['behind', true],
  [55, true],
  [65, false],
  [40, true, 'interval_seconds = 10, timeout_ms = 20000'],
  [55, false, 'interval_seconds = 10, timeout_ms = 20000'],
  [290, true, 'interval_seconds = 3600'],
  [310, false, 'interval_seconds = 3600'],
  [55, false, `status_changed_at = clock_timestamp() - interval '50 s'`],
  [55, true, `status_changed_at = clock_timestamp() - interval '60 s'`],
  ['behind', true, 'status_changed_at = clock_timestamp()'],
  ['none', true, 'status_changed_at = clock_timestamp()'],
  ['none', false, `type = 'heartbeat', heartbeat_interval = 60`],
]
for (const [reader, expected, columns = `status = 'down'`] of READERS) {
  t.test(`A reader (${reader}) and ${columns}: ${expected ? 'may be out of date' : 'current'}`, async t => {
    const id = await insertMonitor(db, (await insertTenant(db)).projectId)
    // again after a pause of the machine, which makes stored times older
    const isAsExpected = async () => {
      await execute(db, `UPDATE monitors SET ${columns} WHERE id = ?`, [id])
      await storeReader(db, id, reader)
      return (await isOutdated(id)) === expected
    }
    t.ok(await waitFor(isAsExpected))
  })
}

t.test('Owners store since when they have seen everything, under their epoch', async t => {
  const id = await insertMonitor(db, (await insertTenant(db)).projectId)
  const [{ partition }] = (await query(db, 'SELECT partition FROM monitors WHERE id = ?', [id])) as [
    { partition: number },
  ]
  await storeReader(db, id, 3_600)
  t.notOk(await isOutdated(id))
  await takePartitions(db, 'me', [partition], 7_000)
  t.ok(await isOutdated(id), 'a new owner has seen nothing yet')
  const { epoch } = (await renewLeases(db, 'me', [], 7_000)).find(one => one.id === partition)!
  t.ok(await isOutdated(id), 'nor when it is behind')
  await renewLeases(db, 'me', [], 7_000, [{ id: partition, epoch: epoch - 1, ms: 3_600_000 }])
  t.ok(await isOutdated(id), 'its reader under another epoch does not count')
  await renewLeases(db, 'me', [], 7_000, [{ id: partition, epoch, ms: 3_600_000 }])
  t.notOk(await isOutdated(id))
  await renewLeases(db, 'other', [], 7_000)
  t.notOk(await isOutdated(id), 'another process changes nothing')
})

/** A monitor whose outage was withheld during maintenance that ends now. */
async function withhold() {
  const house = createScenario(db, (await insertTenant(db)).projectId)
  const [id] = (await house.addMonitors(1)) as [string]
  await storeReader(db, id, 'unknown')
  await house.check([id], '+')
  await house.maintain([id], 60)
  await house.check([id], '-')
  await house.pass(50)
  return { house, id, sent: () => house.sent(id) }
}

for (const reader of ['unknown', 3_600] as const) {
  t.test(`A withheld outage is sent at the end of maintenance: reader ${reader}`, async t => {
    const { house, id, sent } = await withhold()
    await storeReader(db, id, reader)
    await house.pass(8)
    t.equal(await sent(), '')
    await house.pass(2)
    t.equal(await sent(), 'down created')
  })
}

t.test('Without a reader a withheld outage is sent five minutes after maintenance', async t => {
  const { house, id, sent } = await withhold()
  await storeReader(db, id, 'none')
  await house.pass(10)
  await house.leap(290)
  t.equal(await sent(), '')
  await house.pass(10)
  t.equal(await sent(), 'down created')
})

t.test('A withheld outage is sent when the reader has seen everything for long enough', async t => {
  const { house, id, sent } = await withhold()
  await storeReader(db, id, 'none')
  await house.pass(20)
  await storeReader(db, id, 'behind')
  await house.pass(20)
  await storeReader(db, id, 30)
  await house.pass(20)
  t.equal(await sent(), '')
  await storeReader(db, id, 65)
  await house.pass(5)
  t.equal(await sent(), 'down created')
})

t.test('A withheld outage that ends before its status is current is never sent', async t => {
  const { house, id, sent } = await withhold()
  await storeReader(db, id, 'behind')
  await house.pass(20)
  await house.check([id], '+')
  await house.pass(400)
  t.equal(await sent(), '')
  t.same(await query(db, 'SELECT FROM silences WHERE monitor_id = ?', [id]), [])
})

t.test('After another maintenance the five minutes begin again', async t => {
  const { house, id, sent } = await withhold()
  await storeReader(db, id, 'none')
  await house.pass(10)
  await house.leap(200)
  await house.maintain([id], 60)
  await house.leap(10)
  await house.leap(50)
  await house.leap(290)
  t.equal(await sent(), '')
  await house.leap(10)
  t.equal(await sent(), 'down created')
})

t.test('The end of a known outage is sent without waiting for the reader', async t => {
  const house = createScenario(db, (await insertTenant(db)).projectId)
  const [id] = (await house.addMonitors(1)) as [string]
  await storeReader(db, id, 'none')
  await house.check([id], '+-')
  await house.maintain([id], 60)
  await house.check([id], '+')
  await house.leap(60)
  t.equal(await house.sent(id), 'down created up resolved')
})
