import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { checkFleetIfNeeded } from '../../control-plane/verdict/incidents/operator-incidents/fleet-check-actions.ts'
import { createDatabase } from '../support/database.ts'
import { makeOperator } from '../support/operator.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel } from '../support/verdict.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())

/** As the worker checks: without a transaction while there is nothing to write. */
const check = (watchedMs = 3_600_000) => checkFleetIfNeeded(db, 'https://picket.test', watchedMs, new Date())
/** Several processes check at the same time. */
const checkConcurrently = () => Promise.all([check(), check(), check()])
const deliveries = () =>
  query<{ name: string; channels: number }>(
    db,
    `SELECT event_name AS name, count(*) AS channels FROM deliveries GROUP BY event_name ORDER BY event_name`,
  )
const incidents = () =>
  query<{ title: string; status: string; source: string; text: string }>(
    db,
    `SELECT title, i.status, source, string_agg(message, ' / ' ORDER BY u.id) AS text
     FROM incidents i JOIN incident_updates u ON u.incident_id = i.id GROUP BY i.id ORDER BY i.id`,
  )

/** A region whose live set has been empty for `seconds`. */
const empty = (region: string, seconds: number) =>
  execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at, monitors, unassigned)
     VALUES (:region, 3, '{}', now() - :seconds * interval '1 second', 5, 5)
     ON CONFLICT (region) DO UPDATE SET probe_ids = '{}', updated_at = EXCLUDED.updated_at`,
    { region, seconds },
  )

/** A live probe whose last message was `seconds` ago. */
async function live(region: string, seconds: number): Promise<void> {
  const [tokenId, probeId] = [uuidv7(), uuidv7()]
  await execute(
    db,
    `WITH token AS (
       INSERT INTO probe_tokens (id, region, token_hash, is_reusable, created_at)
       VALUES (:tokenId, :region, :hash, true, now()) RETURNING id
     ), probe AS (
       INSERT INTO probes (id, token_id, region, name, instance_id, version, capabilities, connected_to, connected_at,
                           last_seen_at, created_at)
       SELECT :probeId, id, :region, 'p', 'i', '1', '{http}', 'x', now(), now() - :seconds * interval '1 second', now() FROM token
     )
     UPDATE region_epochs SET probe_ids = ARRAY[CAST(:probeId AS uuid)], epoch = epoch + 1 WHERE region = :region`,
    { tokenId, probeId, region, seconds, hash: Buffer.from(tokenId) },
  )
}

/** Runs `work` and returns whether it began a transaction. */
async function beginsTransaction(work: () => Promise<unknown>): Promise<boolean> {
  const statements: string[] = []
  const note = ({ sql }: { sql: string }) => void statements.push(sql)
  db.on('query', note)
  await work()
  db.removeListener('query', note)
  return statements.some(sql => sql.startsWith('BEGIN'))
}

t.test('A fleet without a problem is checked without a transaction', async t => {
  t.equal(await beginsTransaction(check), false)
  await empty('eu-west', 61)
  t.equal(await beginsTransaction(check), true, 'a region without a live probe')
})

t.test('Without an operator project the problem is found and no incident is created', async t => {
  await empty('eu-west', 61)
  t.match((await check()).problems, [{ subject: 'region:eu-west' }])
  t.same(await incidents(), [])
})

t.test('A region without a live probe is one incident of the operator project, with several processes', async t => {
  const { projectId } = await makeOperator(db, await insertTenant(db))
  const channelId = await insertChannel(db, projectId, [])
  await execute(
    db,
    `INSERT INTO alert_subscriptions (id, project_id, alert_channel_id, alert_type, created_at, updated_at)
     VALUES (:id, :projectId, :channelId, 'incident', now(), now())`,
    { id: uuidv7(), projectId, channelId },
  )
  await check(59_000)
  t.same(await incidents(), [], 'not before a process has checked for 60 s')
  await checkConcurrently()
  await checkConcurrently()
  t.match(await incidents(), [
    { title: 'Region eu-west has no live probe', status: 'investigating', source: 'automatic', text: /5 monitors/ },
  ])
  t.same(await deliveries(), [{ name: 'incident.created', channels: 1 }])
})

t.test('The incident is resolved once when a probe is back, and the next absence is another incident', async t => {
  await live('eu-west', 1)
  t.equal(await beginsTransaction(check), true, 'an open incident')
  await checkConcurrently()
  t.match(await incidents(), [{ status: 'resolved', text: /eu-west has a live probe again/ }])
  t.same(await deliveries(), [
    { name: 'incident.created', channels: 1 },
    { name: 'incident.resolved', channels: 1 },
  ])
  await checkConcurrently()
  await empty('eu-west', 90)
  await checkConcurrently()
  t.match(await incidents(), [{ status: 'resolved' }, { status: 'investigating' }])
})

t.test('A probe that was silent for 60 s is not live, even in the live set', async t => {
  await empty('us-west', 1)
  await live('us-west', 61)
  t.match((await check()).problems, [{ subject: 'region:us-west' }, { subject: 'region:eu-west' }])
})

t.test('An incident that a person resolved or deleted is not changed', async t => {
  await checkConcurrently()
  const before = await deliveries()
  await execute(db, `UPDATE incidents SET status = 'resolved', resolved_at = now() WHERE title LIKE '%eu-west%'`)
  await execute(db, `DELETE FROM incidents WHERE title LIKE '%us-west%'`)
  await checkConcurrently()
  await live('eu-west', 1)
  await execute(db, `UPDATE probes SET last_seen_at = now()`)
  await checkConcurrently()
  t.same(await deliveries(), before)
})
