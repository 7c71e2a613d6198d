import { Client, type ClientConfig } from 'pg'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  loadLiveProbeFacts,
  loadPartitionFacts,
  loadServerNow,
  loadStandbyFacts,
  loadWorkFacts,
} from '../../control-plane/operations/health/store.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url, 4)
t.teardown(() => db.destroy())
const { nowMs } = await loadServerNow(db)

/** A channel in a separate project, with lanes due this many seconds ago (negative: in the future); `leased`: in flight. */
async function lanes(dueSecondsAgo: number[], leased: boolean[]): Promise<void> {
  const { projectId } = await insertTenant(db)
  const channelId = await insertChannel(db, projectId, [])
  for (const [i, seconds] of dueSecondsAgo.entries()) {
    await execute(
      db,
      `INSERT INTO delivery_lanes (channel_id, subject, project_id, next_attempt_at, lease_owner)
       VALUES (?, ?, ?, clock_timestamp() - ? * interval '1 second', ?)`,
      [channelId, `${i}`, projectId, seconds, leased[i] ? 'another process' : null],
    )
  }
}

t.test('A new installation has no waiting work', async t => {
  t.same((await loadWorkFacts(db)).deliveriesDue, { count: 0, sinceMs: null })
  t.same((await loadWorkFacts(db)).fanOuts, { count: 0, sinceMs: null })
  t.equal((await loadWorkFacts(db)).lastTransitionAtMs, null)
  t.match((await loadWorkFacts(db)).heartbeats, { monitors: 0, listeningAtMs: Number })
  t.same(await loadLiveProbeFacts(db), [])
  t.same(await loadStandbyFacts(db), [])
  t.same((await loadWorkFacts(db)).plannedOutages, { kept: 0, missed: 0, lastMiss: null })
  t.match(await loadServerNow(db), { isReadOnly: false })
})

t.test('Deliveries count as due when their project has none in flight', async t => {
  await lanes([900, -60], [false, true])
  await lanes([-30], [false])
  t.same(
    (await loadWorkFacts(db)).deliveriesDue,
    { count: 0, sinceMs: null },
    'one waits for its own project, one for its time',
  )
  // the process that was sending died, and its lease expired
  await lanes([120, 90], [false, true])
  const due = (await loadWorkFacts(db)).deliveriesDue
  t.equal(due.count, 2)
  t.ok(Math.abs((nowMs - due.sinceMs!) / 1_000 - 120) < 60)
})

t.test('A partition has an owner as long as its lease lasts', async t => {
  const own = (id: number, seconds: number) =>
    execute(
      db,
      `UPDATE partitions SET owner = 'me', lease_until = clock_timestamp() + ? * interval '1 second' WHERE id = ?`,
      [seconds, id],
    )
  await own(0, 600)
  await own(1, -5)
  const partitions = await loadPartitionFacts(db)
  t.equal(partitions.length, 16)
  t.match(partitions.slice(0, 3), [
    { id: 0, hasOwner: true, position: 0 },
    { id: 1, hasOwner: false, leaseUntilMs: Number },
    { id: 2, hasOwner: false, leaseUntilMs: null },
  ])
})

t.test('A probe in a live set reports whether it can publish', async t => {
  const [tokenId, probeId] = [uuidv7(), uuidv7()]
  await execute(
    db,
    `INSERT INTO probe_tokens (id, region, is_reusable, token_hash, created_at) VALUES (?, 'us-east', true, 'x'::bytea, now())`,
    [tokenId],
  )
  await execute(
    db,
    `INSERT INTO probes (id, token_id, region, name, instance_id, version, capabilities, last_seen_at, created_at, health)
     VALUES (?, ?, 'us-east', 'a', 'i', '1', '{}', now(), now(), '{"spool_results": 12, "connectivity_ok": false}')`,
    [probeId, tokenId],
  )
  t.same(await loadLiveProbeFacts(db), [])
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at) VALUES ('us-east', 1, ARRAY[?]::uuid[], now())`,
    [probeId],
  )
  t.same(await loadLiveProbeFacts(db), [
    { name: 'a', region: 'us-east', spoolResults: 12, droppedResults: 0, connectivityOk: false },
  ])
})

t.test('A base backup of PostgreSQL is not a standby', async t => {
  const config = { connectionString: url, application_name: 'pg_basebackup', replication: 'database' }
  const backup = new Client(config as ClientConfig)
  const lost = new Promise<void>(resolve => backup.once('end', resolve).once('error', () => resolve()))
  await backup.connect()
  const [{ pid }] = (await backup.query('SELECT pg_backend_pid() AS pid')).rows
  // it waits for a checkpoint that takes its time, and then sends slowly
  const ended = backup.query("BASE_BACKUP (LABEL 'test', CHECKPOINT 'spread', MAX_RATE 32)").catch(() => {})
  t.teardown(async () => {
    await execute(db, 'SELECT pg_terminate_backend(?)', [pid])
    await Promise.all([ended, lost])
  })
  const states = () => query<{ state: string }>(db, 'SELECT state FROM pg_stat_replication WHERE pid = ?', [pid])
  await waitFor(async () => (await states())[0]?.state === 'backup', { label: 'the state "backup"' })
  t.same(await loadStandbyFacts(db), [])
})

t.test('A subscriber of a logical slot is not a standby', async t => {
  // the server of the tests has no logical slots, so tables of the same names take the place of its views
  await execute(
    db,
    `CREATE SCHEMA shown;
     CREATE TABLE shown.pg_stat_replication (pid integer, application_name text, state text, replay_lag interval);
     INSERT INTO shown.pg_stat_replication VALUES
       (1, 'standby', 'streaming', '2 s'), (2, 'standby-with-slot', 'catchup', NULL), (3, 'subscriber', 'catchup', NULL),
       (4, NULL, NULL, NULL);
     CREATE TABLE shown.pg_replication_slots (slot_name name, slot_type text, active boolean, active_pid integer);
     INSERT INTO shown.pg_replication_slots VALUES
       ('b', 'physical', true, 2), ('c', 'logical', true, 3), ('d', 'physical', false, NULL), ('e', 'logical', false, NULL)`,
  )
  const shown = createPostgres(`${url}?options=${encodeURIComponent('-c search_path=shown,pg_catalog')}`, 1)
  t.teardown(() => shown.destroy())
  t.same(await loadStandbyFacts(shown), [
    { name: 'd', isConnected: false, state: null, behindMs: null },
    { name: 'standby', isConnected: true, state: 'streaming', behindMs: 2_000 },
    { name: 'standby-with-slot', isConnected: true, state: 'catchup', behindMs: null },
    { name: null, isConnected: true, state: null, behindMs: null },
  ])
})

t.test('Planned outages of the last day are counted by guarantee, with the last miss', async t => {
  const insert = (hoursAgo: number, guarantee: string | null, lateSeconds: number | null = null) =>
    execute(
      db,
      `INSERT INTO canary_outages (region, kind, started_at, ended_at, outcome, stages, guarantee, late_seconds, created_at)
       VALUES ('us-east', 'hang', now() - ? * interval '1 hour', now(), 'told', '[]', ?, ?, now())`,
      [hoursAgo, guarantee, lateSeconds],
    )
  await insert(1, 'kept')
  await insert(2, 'missed', 3.5)
  await insert(3, 'missed', null)
  await insert(4, 'none')
  await insert(5, null)
  await insert(25, 'missed', 90)
  const { kept, missed, lastMiss } = (await loadWorkFacts(db)).plannedOutages
  t.same([kept, missed], [1, 2])
  t.match(lastMiss, { kind: 'hang', startedAtMs: Number, measuredAtMs: Number, lateSeconds: 3.5 })
})
