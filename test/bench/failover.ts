/**
 * The time until the work of a probe has moved that was killed, and that was revoked, and until a revoked probe has lost its
 * connections. The times are those of PostgreSQL and of the logs of the probes.
 */
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { revokeProbe } from '../../control-plane/monitoring/fleet/probes/enrolment-actions.ts'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { type Figure, figure } from './rig.ts'

const REGION = 'us-east'
const MOVED_WITHIN_MS = 15_000
const REVOKED_WITHIN_MS = 5_000

export async function benchFailover(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [REGION], probesPerRegion: 3 })
  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const liveSet = async () => {
    const sql = 'SELECT cardinality(probe_ids) AS size, updated_at AS at FROM region_epochs WHERE region = ?'
    const [row] = await query<{ size: number; at: Date }>(db, sql, [REGION])
    return row ?? { size: 0, at: new Date(0) }
  }
  const hasLeft = async (size: number) =>
    (await waitFor(async () => ((await liveSet()).size === size ? liveSet() : null), { label: `${size} probes` })).at
  await hasLeft(3)
  const [killed, revoked] = picket.probes

  const killedMs = Date.now()
  await killed!.kill9()
  const movedMs = (await hasLeft(2)).getTime() - killedMs

  const { probe_id: revokedId } = await revoked!.untilEvent('connected')
  const revokedMs = Date.now()
  await revokeProbe(db, String(revokedId))
  const timesMs = await Promise.all([
    hasLeft(1).then(at => at.getTime()),
    ...['disconnected', 'nats_away'].map(async event => Date.parse((await revoked!.untilEvent(event)).time)),
  ])
  const [leftMs, grpcMs, natsMs] = timesMs.map(ms => ms - revokedMs) as [number, number, number]
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  return [
    figure('a probe is killed → its work has moved', seconds(movedMs), '≤ 15 s', movedMs <= MOVED_WITHIN_MS),
    figure(
      'a probe is revoked → its work has moved; gRPC; NATS has cut it off',
      [leftMs, grpcMs, natsMs].map(seconds).join('; '),
      '≤ 5 s',
      Math.max(leftMs, grpcMs, natsMs) <= REVOKED_WITHIN_MS,
    ),
  ]
}
