import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { createMonitorCounter } from '../../control-plane/monitoring/monitors/count-reader.ts'
import { ALL_MONITORS } from '../../control-plane/monitoring/monitors/listing/monitor-filter.ts'
import { encryptFields, toCreatedFields } from '../../control-plane/monitoring/monitors/settings/fields.ts'
import {
  findMonitor,
  insertMonitors,
  listMonitorsSince,
  listPartitionMonitors,
  lockMonitors,
  updateMonitors,
} from '../../control-plane/monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../control-plane/monitoring/monitors/types.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secrets = createSecretCipher(Buffer.alloc(32, 1))
const { projectId } = await insertTenant(db)

function monitor(name: string, partition = 3): StoredMonitor {
  const owner = { id: uuidv7(), projectId }
  const fields = toCreatedFields({
    name,
    type: 'http',
    url: 'https://example.com',
    headers: { 'X-Key': 'ключ' },
    auth_type: 'bearer',
    auth_config: { token: 'hush' },
    assertions: [{ type: 'body', operator: 'contains', value: '"{}\\' }],
    tags: ['a,b', '{c}', 'd"e'],
    screenshot_threshold: 0.1,
  })
  const times = { createdAt: new Date('2026-08-01T12:00:00.123Z'), updatedAt: new Date('2026-08-01T12:00:00.123Z') }
  const fresh = { status: null, statusChangedAt: null, isPaused: false, sslExpiresAt: null, domainExpiresAt: null }
  const ping = { pingToken: Buffer.from('sealed'), pingTokenHash: Buffer.from(owner.id) }
  return {
    ...encryptFields(fields, owner, secrets),
    ...owner,
    ...times,
    ...fresh,
    ...ping,
    partition,
    configVersion: 1,
    revision: 0,
    dataSource: null,
    deletedAt: null,
  }
}

async function add(...monitors: StoredMonitor[]): Promise<void> {
  await db.transaction(tx => insertMonitors(tx, monitors))
}

const readRevision = async (id: string) =>
  (await query<{ revision: number }>(db, 'SELECT revision FROM monitors WHERE id = ?', [id]))[0]?.revision ?? 0

t.test('A monitor is read as it was written, including bytes, lists and documents', async t => {
  const one = monitor('One')
  await add(one)
  const read = await findMonitor(db, projectId, one.id)
  t.same(read, { ...one, revision: read?.revision })
  t.ok((read?.revision ?? 0) > 0)
  const changed = { ...one, name: 'Two', headers: null, authConfig: null, authType: null, tags: null, assertions: null }
  await db.transaction(tx => updateMonitors(tx, [{ ...changed, url: null, retryCount: 0, configVersion: 2 }]))
  const after = await findMonitor(db, projectId, one.id)
  t.same(after, { ...changed, url: null, retryCount: 0, configVersion: 2, revision: after?.revision })
})

t.test('Another project cannot read or change a monitor by its id', async t => {
  const one = monitor('Mine')
  await add(one)
  const other = await insertTenant(db)
  t.equal(await findMonitor(db, other.projectId, one.id), null)
  await db.transaction(tx => updateMonitors(tx, [{ ...one, projectId: other.projectId, name: 'Theirs' }]))
  t.equal((await findMonitor(db, projectId, one.id))?.name, 'Mine')
})

t.test('A change that concerns probes gets a new revision and a notification, other changes do not', async t => {
  const one = monitor('Revised')
  await add(one)
  let notifications = 0
  const listener = listenForNotifications(url, ['monitors'], () => notifications++, createLog('test', 'silent'))
  t.teardown(() => listener.stop())
  await waitFor(() => notifications === 1, { label: 'listening' })
  const rows: [change: string, isNotified: boolean][] = [
    [`name = 'Other'`, false],
    [`status = 'down'`, false],
    ['config_version = 2', true],
    ['is_paused = true', true],
    ['deleted_at = now()', true],
  ]
  for (const [change, isNotified] of rows) {
    const before = { revision: await readRevision(one.id), notifications }
    await execute(db, `UPDATE monitors SET ${change} WHERE id = ?`, [one.id])
    t.equal((await readRevision(one.id)) > before.revision, isNotified, change)
    if (isNotified)
      await waitFor(() => notifications === before.notifications + 1, { label: `the notification of ${change}` })
  }
  t.equal(notifications, 4)
})

t.test('Monitors since a revision are listed in order, including deleted and paused ones, up to a limit', async t => {
  const from = await readRevision((await listMonitorsSince(db, 0, 1_000)).at(-1)?.id ?? '')
  const three = [monitor('A'), monitor('B'), monitor('C')]
  await add(...three)
  await execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [three[0]?.id ?? ''])
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [three[1]?.id ?? ''])
  const since = await listMonitorsSince(db, from, 10)
  t.same(
    since.map(({ name }) => name),
    ['C', 'A', 'B'],
  )
  t.same(await listMonitorsSince(db, from, 2), since.slice(0, 2))
  t.same(await listMonitorsSince(db, since.at(-1)?.revision ?? 0, 10), [])
})

t.test('Monitors of partitions exclude deleted ones; a lock includes them, in the order of ids', async t => {
  const [kept, paused, deleted, elsewhere] = [monitor('K', 7), monitor('P', 7), monitor('D', 7), monitor('E', 8)]
  await add(kept, paused, deleted, elsewhere)
  await execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [paused.id])
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted.id])
  const names = (rows: StoredMonitor[]) => rows.map(({ name }) => name)
  t.same(names(await listPartitionMonitors(db, [7])), ['K', 'P'])
  t.same(names(await listPartitionMonitors(db, [7, 8])), ['K', 'P', 'E'])
  t.same(names(await listPartitionMonitors(db, [])), [])
  const ids = [elsewhere.id, deleted.id, kept.id]
  t.same(names(await db.transaction(tx => lockMonitors(tx, ids))), ['K', 'D', 'E'])
})

t.test('The number of monitors is correct after every change, and is counted only after a change', async t => {
  const tenant = await insertTenant(db)
  const count = createMonitorCounter(db)
  const total = (filter: object = {}) => count(tenant.projectId, { ...ALL_MONITORS, ...filter })
  t.equal(await total(), 0)
  const [first, second] = [monitor('first'), monitor('second')].map(one => ({ ...one, projectId: tenant.projectId }))
  await add(first!, second!)
  t.same([await total(), await total({ type: 'http' }), await total({ type: 'tcp' })], [2, 2, 0])
  const change = (set: string) => execute(db, `UPDATE monitors SET ${set} WHERE id = ?`, [first!.id])
  await change("type = 'tcp', config_version = config_version + 1")
  t.same([await total(), await total({ type: 'http' }), await total({ type: 'tcp' })], [2, 1, 1])
  await change("name = 'third', tags = '{late}', status = 'down'")
  t.same(
    [await total({ text: 'third' }), await total({ tags: ['late'] }), await total({ statuses: ['down'] })],
    [1, 1, 1],
  )
  await change('deleted_at = now()')
  t.same([await total(), await total({ type: 'tcp' })], [1, 0])

  const counts: string[] = []
  const note = ({ sql }: { sql: string }) => counts.push(...(sql.match(/count\(\*\)/g) ?? []))
  db.on('query', note)
  t.same([await total(), await total({ type: 'tcp' })], [1, 0])
  db.off('query', note)
  t.same(counts, [])
})

t.test('Failures in a row count from the last change of the target or the assertions only', async t => {
  const one = monitor('streaks')
  await add(one)
  const since = async () => {
    const rows = await query<{ since: number }>(db, 'SELECT streaks_since AS since FROM monitors WHERE id = ?', [
      one.id,
    ])
    return rows[0]!.since
  }
  const steps: [set: string, since: number][] = [
    [`name = 'Other', timeout_ms = 1000`, 1],
    [`headers = NULL`, 1],
    [`url = 'https://example.org'`, 4],
    [`regions = '{us-east}'`, 4],
    [`assertions = '[]'`, 6],
    [`keyword = 'x'`, 7],
    [`keyword_type = 'not_contains'`, 8],
    [`type = 'tcp'`, 9],
  ]
  for (const [set, expected] of steps) {
    await execute(db, `UPDATE monitors SET config_version = config_version + 1, ${set} WHERE id = ?`, [one.id])
    t.equal(await since(), expected, set)
  }
})
