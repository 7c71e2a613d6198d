import t from 'tap'
import { createPostgres, execute, query, type Tx } from '../../control-plane/foundation/platform/postgres/client.ts'
import { LEASE_SPARE_MS } from '../../control-plane/integrations/data-sources/fetching/worker.ts'
import { PLANNED_WAITS } from '../../control-plane/operations/clock-steps/planned-waits.ts'
import { shortenWaits } from '../../control-plane/operations/clock-steps/store.ts'
import { renewLeases, takePartitions } from '../../control-plane/verdict/reader/partitions/partition-store.ts'
import { createDatabase } from '../support/database.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const SETTINGS = { vendorSeconds: 60 }
/** The three rows of a table: due within its wait, at the end of it, and an hour after that. */
const ROWS = [11, 12, 13].map(number => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`)

/** The column that identifies the rows of a table, if it is not `id`. */
const KEYS: Record<string, string> = {
  heartbeats: 'monitor_id',
  silences: 'monitor_id',
  reminders: 'rule_id',
  relay_messages: 'delivery_id',
  page_notices: 'page_id',
}
/** The longest wait in seconds, of a row with these columns. */
const MAX_SECONDS: Record<string, [seconds: number, columns?: Record<string, number>]> = {
  'heartbeats.due_at': [660],
  'silences.due_at': [30],
  'silences.send_by': [300],
  'silences.doubt_until': [60],
  'silences.grace_until': [600],
  'data_sources.next_fetch_at': [120, { fetch_interval_s: 120 }],
  'data_sources.lease_until': [10 + LEASE_SPARE_MS / 1_000, { timeout_ms: 10_000 }],
  'vendor_feeds.next_fetch_at': [1_020],
  'reminders.due_at': [1_800],
  'digests.due_at': [60],
  'page_notices.due_at': [60],
  'relay_messages.next_attempt_at': [80, { failures: 3 }],
  'relay_destinations.next_trial_at': [60],
  'account_mails.next_attempt_at': [300, { attempts: 2 }],
  'chat_installations.renewing_until': [30],
  'status_page_images.next_fetch_at': [86_400],
}

/** Puts a table without constraints before the real one: a row of it needs only the columns that the test is about. */
async function loosen(tx: Tx, table: string): Promise<void> {
  await execute(tx, `CREATE TEMPORARY TABLE ${table} (LIKE public.${table}) ON COMMIT DROP`)
  const columns = await query<{ name: string }>(
    tx,
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = CAST(? AS regclass) AND attnum > 0 AND attnotnull`,
    [`pg_temp.${table}`],
  )
  for (const { name } of columns) await execute(tx, `ALTER TABLE ${table} ALTER COLUMN "${name}" DROP NOT NULL`)
}

async function insertOwners(tx: Tx): Promise<void> {
  await loosen(tx, 'monitors')
  await loosen(tx, 'alert_rules')
  for (const row of ROWS) {
    await execute(
      tx,
      `INSERT INTO monitors (id, type, heartbeat_interval, heartbeat_grace) VALUES (?, 'heartbeat', 600, 60)`,
      [row],
    )
    await execute(tx, 'INSERT INTO alert_rules (id, remind_every_minutes) VALUES (?, 30)', [row])
  }
}

for (const wait of PLANNED_WAITS) {
  const { table, column } = wait
  t.test(`${table}.${column}: a row that was planned by a clock an hour ahead waits for its longest wait`, t =>
    db.transaction(async tx => {
      const [longest, columns = {}] = MAX_SECONDS[`${table}.${column}`]!
      const key = KEYS[table] ?? 'id'
      await insertOwners(tx)
      await loosen(tx, table)
      for (const [number, row] of ROWS.entries()) {
        const inSeconds = [longest / 2, longest, longest + 3_600][number]!
        await execute(
          tx,
          `INSERT INTO ${table} (${[key, column, ...Object.keys(columns)]})
           VALUES ('${row}', ${[`clock_timestamp() + ${inSeconds} * interval '1 s'`, ...Object.values(columns)]})`,
        )
      }
      const waits = async () => {
        const sql = `SELECT CAST(extract(epoch FROM ${column} - clock_timestamp()) AS float8) AS seconds FROM ${table}`
        return (await query<{ seconds: number }>(tx, `${sql} ORDER BY ${key}`)).map(({ seconds }) => seconds)
      }
      const before = await waits()
      t.equal(await shortenWaits(tx, wait, SETTINGS), 1)
      const after = await waits()
      t.ok(after[0]! <= before[0]! && after[1]! <= before[1]!, 'what is due in time keeps its time')
      t.ok(after[0]! > before[0]! - 10, 'and is not put off')
      t.ok(after[2]! <= longest && after[2]! > longest - 10, `${after[2]} s: the longest wait, from now on`)
      t.equal(await shortenWaits(tx, wait, SETTINGS), 0, 'a second time changes nothing')
    }),
  )
}

t.test(
  'partitions of a process that ended before the clock was set back are free when a lease would have ended',
  async t => {
    const ids = (await renewLeases(db, 'alive', [], 7_000)).slice(0, 3).map(holding => holding.id)
    await takePartitions(db, 'dead', ids, 3_600_000)
    await takePartitions(db, 'alive', ids.slice(0, 1), 7_000)
    const holdings = await renewLeases(db, 'alive', [], 7_000)
    t.ok(
      holdings.slice(0, 3).every(({ isLive }) => isLive),
      'they are not free yet',
    )
    const leases = await query<{ owner: string; seconds: number }>(
      db,
      `SELECT owner, CAST(extract(epoch FROM lease_until - clock_timestamp()) AS float8) AS seconds
     FROM partitions WHERE id = ANY(CAST(? AS smallint[])) ORDER BY id`,
      [ids],
    )
    t.same(
      leases.map(({ owner }) => owner),
      ['alive', 'dead', 'dead'],
    )
    t.ok(leases.every(({ seconds }) => seconds <= 7))
  },
)
