import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import {
  createPostgres,
  execute,
  query,
  type Tx,
  withSetting,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { buildMonitor } from '../../control-plane/monitoring/monitors/actions.ts'
import {
  getHistoryPosition,
  getLatestRevision,
  insertMonitors,
  listMonitorsSince,
  lockMonitors,
} from '../../control-plane/monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../control-plane/monitoring/monitors/types.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)
const secrets = createSecretCipher(Buffer.alloc(32, 1))

const monitor = (name: string): StoredMonitor =>
  buildMonitor(secrets, projectId, { name, type: 'http', url: 'https://example.com' }, new Date())
const monitors = (name: string, count: number) => Array.from({ length: count }, (_, i) => monitor(`${name} ${i}`))
const add = (...added: StoredMonitor[]) => db.transaction(tx => insertMonitors(tx, added))
const names = (rows: StoredMonitor[]) => rows.map(({ name }) => name)
/** With rows locked in the order of ids, as in every change. */
const change = async (tx: Tx, ids: string[]) => {
  await lockMonitors(tx, ids)
  await execute(tx, 'UPDATE monitors SET config_version = config_version + 1 WHERE id = ANY (?::uuid[])', [ids])
}

t.test('There is no revision before the first monitor, so nothing is read until then', async t => {
  t.equal((await getHistoryPosition(db)).revision, await getLatestRevision(db))
  await add(monitor('First'))
  t.equal((await getHistoryPosition(db)).revision, await getLatestRevision(db))
})

t.test('A change of one tenant is visible while another has changed 1,000 monitors and not committed', async t => {
  const from = await getLatestRevision(db)
  const open = await openTransaction(db)
  await insertMonitors(open, monitors('Slow', 1_000))
  await add(monitor('Fast'))
  t.same(names(await listMonitorsSince(db, from, 10)), ['Fast'])
  await open.commit()
  t.equal((await listMonitorsSince(db, from, 10_000)).length, 1_001)
})

t.test('A transaction with revisions blocks other revisions until it ends', async t => {
  const from = await getLatestRevision(db)
  const first = monitor('First')
  await runWhileLocked(
    db,
    async tx => {
      await insertMonitors(tx, [first])
      // as the commit does
      await tx.raw('SET CONSTRAINTS ALL IMMEDIATE')
      t.same(await listMonitorsSince(db, from, 10), [])
    },
    () => add(monitor('Second')),
  )
  await waitFor(async () => (await listMonitorsSince(db, from, 10)).length === 2, { label: 'both' })
  t.same(names(await listMonitorsSince(db, from, 10)), ['First', 'Second'])
})

t.test('A reader of revisions misses no change of concurrent transactions', async t => {
  const all = monitors('Followed', 40)
  await add(...all)
  const ids = all.map(({ id }) => id).sort()
  const seen = new Map<string, number>()
  let revision = await getLatestRevision(db)
  let isOver = false
  const follow = async () => {
    for (;;) {
      const isLast = isOver
      const page = await listMonitorsSince(db, revision, 7)
      for (const { id, configVersion } of page) seen.set(id, configVersion)
      revision = page.at(-1)?.revision ?? revision
      if (isLast && page.length === 0) return
    }
  }
  const write = async (writer: number) => {
    for (let round = 0; round < 40; round++) {
      const mine = ids.filter((_, i) => (i * 7 + writer * 3 + round) % 5 === 0)
      await db.transaction(async tx => {
        await change(tx, mine)
        if (round % 4 === 0) await change(tx, mine.slice(1))
        // a slow commit: it has its revisions and is not visible yet
        if (round % 3 === 0) await tx.raw('SET CONSTRAINTS ALL IMMEDIATE')
        if (round % 3 !== 1) await tx.raw('SELECT pg_sleep(random() / 100)')
      })
    }
  }
  const following = follow()
  await Promise.all([0, 1, 2, 3, 4, 5].map(write))
  isOver = true
  await following
  const stored = await query<{ id: string; configVersion: number }>(
    db,
    'SELECT id, config_version AS "configVersion" FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id',
    [ids],
  )
  t.same(
    ids.map(id => ({ id, configVersion: seen.get(id) })),
    stored,
  )
})

t.test('Each changed monitor has one unique revision, also after several changes', async t => {
  const [one, two, three] = monitors('Again', 3)
  const from = await getLatestRevision(db)
  await db.transaction(async tx => {
    await insertMonitors(tx, [one!, two!])
    await change(tx, [one!.id])
    // a rollback also rolls its revision back
    await tx
      .transaction(async inner => {
        await insertMonitors(inner, [three!])
        await change(inner, [two!.id])
        throw new Error('taken back')
      })
      .catch(() => {})
    await tx.raw('SET CONSTRAINTS ALL IMMEDIATE')
    await tx.raw('SET CONSTRAINTS ALL DEFERRED')
    await change(tx, [one!.id])
  })
  const since = await listMonitorsSince(db, from, 10)
  t.same(names(since), ['Again 1', 'Again 0'])
  t.equal(new Set(since.map(({ revision }) => revision)).size, 2)
  t.ok(since.every(({ revision }) => revision > from))
})

t.test('A dry run uses no revision, and the audit log has a change once', async t => {
  const from = await getLatestRevision(db)
  const rehearsal = withSetting(db, 'picket.is_rehearsal', 'on')
  const one = monitor('Audited')
  await rehearsal
    .transaction(async tx => {
      await insertMonitors(tx, [one])
      await change(tx, [one.id])
      await tx.raw('SET CONSTRAINTS ALL IMMEDIATE')
      t.equal(await getLatestRevision(tx), from)
      await tx.rollback()
    })
    .catch(() => {})
  t.same(await listMonitorsSince(db, from, 10), [])

  const actor = { kind: 'user', id: uuidv7(), name: 'Ann', ip: null, projectId, organizationId: null }
  await withSetting(db, 'picket.actor', JSON.stringify(actor)).transaction(tx => insertMonitors(tx, [one]))
  const entries = await query<{ action: string }>(db, 'SELECT action FROM audit_log WHERE resource_id = ?', [one.id])
  t.same(entries, [{ action: 'created' }])
})
