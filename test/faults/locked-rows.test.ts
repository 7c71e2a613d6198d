import t from 'tap'
import { execute, query, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'
import { pauseMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { DAY_MS, readExpiryDates } from '../support/expiry.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import {
  createNextResult,
  insertChannel,
  insertMonitors,
  publish,
  readStatuses,
  startVerdictEngines,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url, server, db, nats } = await startVerdictEngines(t)

/** Monitors of two tenants in one partition; each tenant has a channel for all of its monitors. */
async function twoTenants() {
  const [held, free] = [await insertTenant(db), await insertTenant(db)]
  const theirs = {
    held: await insertMonitors(db, held.projectId, 6, { partition: 5 }),
    free: await insertMonitors(db, free.projectId, 6, { partition: 5 }),
  }
  await insertChannel(db, held.projectId, theirs.held)
  await insertChannel(db, free.projectId, theirs.free)
  return { ...theirs, projectOfHeld: held.projectId }
}

const fire = (ids: string[], up: boolean) =>
  publish(
    nats,
    ids.map(id => createNextResult(id, { up })),
  )

const reach = (ids: string[], statuses: string) =>
  waitFor(async () => (await Promise.all(ids.map(id => readStatuses(db, id)))).every(reached => reached === statuses), {
    label: statuses,
  })

const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
const endsIn = (days: number) => new Date(today + days * DAY_MS)

/** A result with a certificate that ends in some days. */
function saw(id: string, fingerprint: string, days: number) {
  const validToMs = endsIn(days).getTime()
  const certificate = { subject: '', issuer: '', validFromMs: 0, validToMs, names: [], fingerprint }
  return createNextResult(id, { up: true, certificate })
}

const readSslExpiry = async (id: string) => (await readExpiryDates(db, id)).ssl

const count = async (table: string, column: string, id: string) =>
  (await query(db, `SELECT FROM ${table} WHERE ${column} = ?`, [id])).length

/** Locks rows until the returned transaction ends. */
async function hold(rows: string, ids: string[]): Promise<Tx> {
  const tx = await openTransaction(db)
  await query(tx, `SELECT FROM ${rows} WHERE id = ANY(?) FOR UPDATE`, [ids] as never)
  return tx
}

const deferred = async () => (await query<{ n: number }>(db, 'SELECT count(*) AS n FROM deferred_changes'))[0]!.n

t.test('Locked monitors delay only their tenant, which is notified when they are free', async t => {
  const { held, free } = await twoTenants()
  const process = await startVerdictProcess(t, url, server.url)
  await fire([...held, ...free], true)
  await reach([...held, ...free], 'up')
  const lock = await hold('monitors', held)
  for (const statuses of ['up down', 'up down up', 'up down up down']) {
    await fire([...held, ...free], statuses.endsWith('up'))
    await reach(free, statuses)
  }
  for (const id of held) t.equal(await readStatuses(db, id), 'up', 'nothing yet of those that are locked')
  await waitFor(async () => (await process.metric('picket_verdict_deferred_monitors')) === held.length, {
    label: 'the metric of deferred monitors',
  })
  await lock.rollback()
  await reach(held, 'up down up down')
  await waitFor(async () => (await deferred()) === 0, { label: 'nothing deferred' })
  for (const id of [...held, ...free]) {
    t.equal(await count('incidents', 'cause_monitor_id', id), 2)
    t.equal(await count('deliveries', 'subject', `monitor:${id}`), 3)
  }
  t.equal(await process.metric('picket_verdict_partition_restarts_total'), 0)
  await process.stop()
})

t.test('Other locked rows of a tenant delay only that tenant', async t => {
  const { held, free, projectOfHeld } = await twoTenants()
  const process = await startVerdictProcess(t, url, server.url)
  await fire([...held, ...free], true)
  await reach([...held, ...free], 'up')
  const lock = await hold('projects', [projectOfHeld])
  await fire([...held, ...free], false)
  await reach(free, 'up down')
  await waitFor(async () => (await deferred()) >= held.length, { label: 'deferred' })
  await lock.rollback()
  await reach(held, 'up down')
  await fire([...held, ...free], true)
  await reach([...held, ...free], 'up down up')
  await process.stop()
})

t.test('Changes that wait for locked rows survive the process and are reported once', async t => {
  const { held, free } = await twoTenants()
  const first = await startVerdictProcess(t, url, server.url)
  await fire([...held, ...free], true)
  await reach([...held, ...free], 'up')
  const lock = await hold('monitors', held)
  await fire([...held, ...free], false)
  await reach(free, 'up down')
  await waitFor(async () => (await deferred()) === held.length, { label: 'deferred' })
  await first.kill()
  await fire([...held, ...free], true)
  const second = await startVerdictProcess(t, url, server.url)
  await reach(free, 'up down up')
  for (const id of held) t.equal(await readStatuses(db, id), 'up')
  await second.kill()
  await lock.rollback()
  const third = await startVerdictProcess(t, url, server.url)
  await reach(held, 'up down up')
  await fire([...held, ...free], false)
  await reach([...held, ...free], 'up down up down')
  for (const id of held) t.equal(await count('deliveries', 'subject', `monitor:${id}`), 3)
  await waitFor(async () => (await deferred()) === 0, { label: 'nothing deferred' })
  await third.stop()
})

t.test('Waiting changes of a monitor that is paused or changed meanwhile are discarded', async t => {
  const { held, free, projectOfHeld } = await twoTenants()
  const [paused, changed] = held as [string, string, ...string[]]
  const process = await startVerdictProcess(t, url, server.url)
  await fire([...held, ...free], true)
  await reach([...held, ...free], 'up')
  const lock = await hold('monitors', held)
  await fire([...held, ...free], false)
  await reach(free, 'up down')
  await waitFor(async () => (await deferred()) === held.length, { label: 'deferred' })
  await execute(lock, 'UPDATE monitors SET config_version = 2 WHERE id = ?', [changed])
  await pauseMonitor({ db: lock, publicUrl: 'https://picket.example' }, projectOfHeld, paused, new Date())
  await lock.commit()
  await reach(held.slice(2), 'up down')
  await waitFor(async () => (await deferred()) === 0, { label: 'nothing deferred' })
  t.equal(await readStatuses(db, paused), 'up null')
  t.equal(await readStatuses(db, changed), 'up')
  await publish(nats, [createNextResult(changed, { up: false, configVersion: 2 })])
  await reach([changed], 'up down')
  t.equal(await count('incidents', 'cause_monitor_id', changed), 1)
  t.equal(await count('incidents', 'cause_monitor_id', paused), 0)
  await process.stop()
})

t.test(
  'The certificate of a locked monitor is stored with its next result, and still holds back a later one',
  async t => {
    const [heldId, freeId] = [await insertWatched(), await insertWatched()]
    const process = await startVerdictProcess(t, url, server.url)
    const lock = await hold('monitors', [heldId])
    await publish(nats, [saw(heldId, 'aa', 20), saw(freeId, 'aa', 20)])
    await waitFor(async () => await readSslExpiry(freeId), { label: 'the certificate of the free monitor' })
    t.equal(await readSslExpiry(heldId), null)
    await lock.rollback()
    await publish(nats, [saw(heldId, 'bb', 90)])
    await waitFor(async () => await readSslExpiry(heldId), { label: 'the certificate of the monitor that was locked' })
    t.same(await readSslExpiry(heldId), endsIn(20), 'another machine behind the name still has it')
    await process.stop()

    async function insertWatched() {
      const { projectId } = await insertTenant(db)
      const [id] = await insertMonitors(db, projectId, 1, { partition: 0 })
      await execute(db, 'UPDATE monitors SET ssl_check = true WHERE id = ?', [id!])
      return id!
    }
  },
)
