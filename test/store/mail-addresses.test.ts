import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { listAddressStates, listTrustedChannelIds } from '../../control-plane/accounts/email/confirmation/store.ts'
import { MAIL_LIMITS, type MailRequest } from '../../control-plane/accounts/email/daily-limits/limits.ts'
import { pruneMailCounts, reserveMails } from '../../control-plane/accounts/email/daily-limits/store.ts'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const NOW = new Date('2026-11-22T12:00:00Z')

t.test('Only addresses with an earlier delivered email count as confirmed', async t => {
  const tenant = await insertTenant(db)
  const { projectId, organizationId } = tenant
  const channel = async (ageDays: number, failures: number) => {
    const id = uuidv7()
    await execute(
      db,
      `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, consecutive_failures, created_at, updated_at)
       VALUES (:id, :projectId, 'Ops', 'email', '', false, :failures, now() - :ageDays * interval '1 day', now())`,
      { id, projectId, failures, ageDays },
    )
    return id
  }
  const delivered = async (channelId: string, to: string[], status: string, error: string | null) => {
    const eventId = uuidv7()
    await execute(
      db,
      `INSERT INTO events (id, project_id, name, subject, data, occurred_at) VALUES (?, ?, 'monitor.down', 's', '{}', now())`,
      [eventId, projectId],
    )
    await execute(
      db,
      `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, attempts, request_url, created_at, updated_at)
       VALUES (:id, :projectId, :channelId, :eventId, 'monitor.down', 's', :status, :attempts, :url, now(), now())`,
      {
        ...{ id: `whd_${randomBytes(8).toString('hex')}`, projectId, channelId, eventId, status },
        attempts: JSON.stringify([{ error }]),
        url: `mailto:${to.map(encodeURI).join(',')}`,
      },
    )
  }
  const [young, old, failing] = [await channel(2, 0), await channel(40, 0), await channel(40, 3)]
  await delivered(
    young,
    ['Ann@Ops.example', 'zoë@ops.example', 'gone@ops.example'],
    'delivered',
    'rejected for gone@ops.example (550)',
  )
  await delivered(failing, ['refused@ops.example'], 'failed', 'refused')
  await execute(db, 'DROP TABLE mail_addresses, mail_counts, trusted_mail_channels')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0042-mail-addresses'`)
  await migratePostgres(url)
  const rows = await query<{ address: string }>(db, 'SELECT address FROM mail_addresses ORDER BY 1')
  t.same(
    rows.map(({ address }) => address),
    ['ann@ops.example', 'zoë@ops.example'],
  )
  t.match(await listAddressStates(db, [{ organizationId, address: 'ann@ops.example' }]), [{ isConfirmed: true }])
  t.same(
    [...(await listTrustedChannelIds(db, [young, old, failing]))],
    [old],
    'older than the log, and without failures',
  )
})

t.test('Processes that count emails concurrently do not exceed a limit', async t => {
  const { organizationId } = await insertTenant(db)
  const limits = { ...MAIL_LIMITS, alert: { ...MAIL_LIMITS.alert, recipient: 25 } }
  const wish: MailRequest = { kind: 'alert', organizationId, plan: 'free', address: 'ann@ops.example' }
  const takes = await Promise.all(
    Array.from({ length: 10 }, () => db.transaction(tx => reserveMails(tx, [wish, wish, wish, wish], limits, NOW))),
  )
  t.equal(takes.flat().filter(refusal => refusal === null).length, 25)
  const tomorrow = new Date(NOW.getTime() + 86_400_000)
  t.same(await db.transaction(tx => reserveMails(tx, [wish], limits, tomorrow)), [null])
  await pruneMailCounts(db, new Date(NOW.getTime() + 3 * 86_400_000))
  t.same(await query(db, 'SELECT FROM mail_counts'), [])
})
