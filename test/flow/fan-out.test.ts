import { randomBytes } from 'node:crypto'
import t from 'tap'
import { connectNats } from '../../control-plane/platform/nats.ts'
import { createPostgres, query } from '../../control-plane/platform/postgres.ts'
import { partitionOf } from '../../shared/subjects.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors, publish, resultOf } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const PATIENCE = { timeoutMs: 120_000 }

/** Two tenants with monitors of one partition: one with many channels, one with a single webhook. */
async function scene(t: Teardown, channels: number, env: Record<string, string> = {}) {
  const secretKey = randomBytes(32)
  const picket = await startPicket(t, { regions: [], env: { SECRET_KEY: secretKey.toString('base64'), ...env } })
  const db = createPostgres(picket.databaseUrl, 4)
  t.teardown(() => db.destroy())
  const nats = await connectNats(picket.nats.url, 'test', picket.nats.operator)
  t.teardown(() => nats.close())
  const [crowd, receiver] = [await startReceiver(t), await startReceiver(t)]
  const [big, small] = [await insertTenant(db), await insertTenant(db)]
  const inPartition = async (projectId: string, count: number) => {
    const ids = await insertMonitors(db, projectId, count * 60)
    return ids.filter(id => partitionOf(id) === 7).slice(0, count)
  }
  const [loud, quiet] = [await inPartition(big.projectId, 2), await inPartition(small.projectId, 2)]
  await insertManyChannels(db, { ...big, monitorIds: loud, count: channels, url: crowd.url, secretKey })
  await insertManyChannels(db, { ...small, monitorIds: quiet, count: 1, url: receiver.url, secretKey })
  /** results of all of them in one message */
  const check = (ids: string[], up: boolean) =>
    publish(
      nats,
      ids.map(id => resultOf(id, { up })),
    )
  const waiting = async () => (await query<{ n: number }>(db, 'SELECT count(*) AS n FROM fan_outs'))[0]!.n
  const made = async () => {
    const sql = 'SELECT count(*) AS n FROM deliveries WHERE project_id = ?'
    return (await query<{ n: number }>(db, sql, [big.projectId]))[0]!.n
  }
  /** what each channel was told of each monitor, in order: by what was told, how many */
  const toldToAll = () =>
    query(
      db,
      `SELECT told, count(*) AS count FROM (
         SELECT string_agg(event_name, ' ' ORDER BY seq) AS told FROM deliveries WHERE project_id = ?
         GROUP BY channel_id, subject
       ) AS lane GROUP BY told`,
      [big.projectId],
    )
  return { picket, db, receiver, loud, quiet, check, waiting, made, toldToAll }
}

t.test('20,000 channels of one tenant: another one of the same partition is notified within a second', async t => {
  const { db, receiver, loud, quiet, check, waiting, toldToAll } = await scene(t, 20_000)
  await check([...loud, quiet[0]!], false)
  await receiver.waitFor(1)
  t.ok((await waiting()) > 0, 'the deliveries of the big one are still being made')
  await check([quiet[1]!], false)
  await receiver.waitFor(2)
  t.ok((await waiting()) > 0, 'they still are')
  const recorded = await waitFor(
    async () => {
      const rows = await query<{ ms: number }>(
        db,
        `SELECT extract(epoch FROM (d.attempts->0->>'at')::timestamptz - t.created_at)::float8 * 1000 AS ms
         FROM transitions t JOIN deliveries d ON d.subject = 'monitor:' || t.monitor_id
         WHERE t.monitor_id = ANY (?::uuid[]) AND d.status = 'delivered'`,
        [quiet],
      )
      return rows.length === 2 ? rows : null
    },
    { ...PATIENCE, label: 'both are recorded' },
  )
  for (const { ms } of recorded) t.ok(ms <= 1_000, `${Math.round(ms)} ms from its transition to its webhook`)
  await waitFor(async () => (await waiting()) === 0, { ...PATIENCE, label: 'the end of the fan-out' })
  t.same(await toldToAll(), [{ told: 'monitor.down', count: 40_000 }])
})

t.test('A process is killed in the middle of a fan-out: another one makes the rest, each delivery once', async t => {
  const { picket, loud, check, waiting, made, toldToAll } = await scene(t, 6_000, { ROLES: 'api,verdict' })
  const deliverers = [
    await picket.addControlPlane({ ROLES: 'deliver' }),
    await picket.addControlPlane({ ROLES: 'deliver' }),
  ]
  await check(loud, false)
  await waitFor(async () => (await made()) > 2_000, { ...PATIENCE, label: 'a beginning' })
  await check(loud, true)
  await deliverers[0]!.kill9()
  t.ok((await waiting()) > 0, 'it was killed in the middle')
  await waitFor(async () => (await waiting()) === 0, { ...PATIENCE, label: 'the end of the fan-out' })
  t.same(await toldToAll(), [{ told: 'monitor.down monitor.up', count: 12_000 }])
})
