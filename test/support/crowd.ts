import { randomBytes } from 'node:crypto'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { insertManyChannels } from './many-channels.ts'
import { startPicket } from './picket.ts'
import { startReceiver } from './receiver.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant } from './tenant.ts'
import { createNextResult, insertLiveProbes, insertMonitors, publish } from './verdict.ts'

/** Two tenants with monitors of one partition: one with many channels, one with a single webhook. */
export async function startCrowd(t: Teardown, channels: number, env: Record<string, string> = {}) {
  const secretKey = randomBytes(32)
  const picket = await startPicket(t, { regions: [], env: { SECRET_KEY: secretKey.toString('base64'), ...env } })
  const db = createPostgres(picket.databaseUrl, 4)
  t.teardown(() => db.destroy())
  const nats = await connectNats(picket.nats.url, 'test', picket.nats.operator)
  t.teardown(() => nats.close())
  await insertLiveProbes(db)
  const [crowd, receiver] = [await startReceiver(t), await startReceiver(t)]
  const [big, small] = [await insertTenant(db), await insertTenant(db)]
  const loud = await insertMonitors(db, big.projectId, 2, { partition: 7 })
  const quiet = await insertMonitors(db, small.projectId, 2, { partition: 7 })
  await insertManyChannels(db, { ...big, monitorIds: loud, count: channels, url: crowd.url, secretKey })
  await insertManyChannels(db, { ...small, monitorIds: quiet, count: 1, url: receiver.url, secretKey })
  /** publishes results of all monitors in one message */
  const check = (ids: string[], up: boolean) =>
    publish(
      nats,
      ids.map(id => createNextResult(id, { up })),
    )
  const waiting = async () => (await query<{ n: number }>(db, 'SELECT count(*) AS n FROM fan_outs'))[0]!.n
  const made = async () => {
    const sql = 'SELECT count(*) AS n FROM deliveries WHERE project_id = ?'
    return (await query<{ n: number }>(db, sql, [big.projectId]))[0]!.n
  }
  /** the deliveries of the big tenant that were made before the only webhook about this monitor was sent */
  const madeBefore = async (monitorId: string) => {
    const sent = await query<{ at: string | null }>(
      db,
      `SELECT attempts->0->>'at' AS at FROM deliveries WHERE subject = ?`,
      [`monitor:${monitorId}`],
    )
    if (sent.length !== 1 || !sent[0]!.at) throw new Error(`${sent.length} webhooks about ${monitorId}, or none sent`)
    const sql = 'SELECT count(*) AS n FROM deliveries WHERE project_id = ? AND created_at < CAST(? AS timestamptz)'
    return (await query<{ n: number }>(db, sql, [big.projectId, sent[0]!.at]))[0]!.n
  }
  /** the events that each channel received about each monitor, in order, with the number of channels */
  const countSequences = () =>
    query(
      db,
      `SELECT sequence, count(*) AS count FROM (
         SELECT string_agg(event_name, ' ' ORDER BY seq) AS sequence FROM deliveries WHERE project_id = ?
         GROUP BY channel_id, subject
       ) AS lane GROUP BY sequence`,
      [big.projectId],
    )
  /** ms from each transition of the small tenant to its webhook; null until both are recorded */
  const tookMs = async () => {
    const rows = await query<{ ms: number }>(
      db,
      `SELECT extract(epoch FROM (d.attempts->0->>'at')::timestamptz - t.created_at)::float8 * 1000 AS ms
       FROM transitions t JOIN deliveries d ON d.subject = 'monitor:' || t.monitor_id
       WHERE t.monitor_id = ANY (?::uuid[]) AND d.status = 'delivered'`,
      [quiet],
    )
    return rows.length === 2 ? rows.map(({ ms }) => ms) : null
  }
  return { picket, receiver, loud, quiet, check, waiting, made, madeBefore, countSequences, tookMs }
}
