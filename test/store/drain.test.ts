import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import {
  createPostgres,
  type Db,
  execute,
  query,
  type Tx,
} from '../../control-plane/foundation/platform/postgres/client.ts'
import { listProbeStates } from '../../control-plane/monitoring/fleet/live-sets/store.ts'
import { drainOutliers, undrainProbe } from '../../control-plane/monitoring/fleet/probes/drain-actions.ts'
import {
  insertDisagreements,
  listDrainedProbes,
  pruneDisagreements,
} from '../../control-plane/monitoring/fleet/probes/drain-store.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())

const drain = () => db.transaction(tx => drainOutliers(tx))
const drained = async () => (await listDrainedProbes(db)).map(({ id }) => id)
const readEpoch = async (region: string) =>
  (
    await query<{ epoch: number; probeIds: string[] }>(
      db,
      'SELECT epoch, probe_ids AS "probeIds" FROM region_epochs WHERE region = ?',
      [region],
    )
  )[0]!

/** A region with live probes, each with its capabilities. */
async function createRegion(region: string, ...capabilities: string[][]): Promise<string[]> {
  const tokenId = uuidv7()
  const ids = capabilities.map(() => uuidv7())
  await execute(
    db,
    `INSERT INTO probe_tokens (id, region, token_hash, is_reusable, created_at) VALUES (?, ?, ?, true, now())`,
    [tokenId, region, Buffer.from(tokenId)],
  )
  for (const [i, id] of ids.entries()) {
    await execute(
      db,
      `INSERT INTO probes (id, token_id, region, name, instance_id, version, capabilities, connected_to, connected_at,
                           last_seen_at, created_at)
       VALUES (:id, :tokenId, :region, :name, 'i', '1', :types, 'x', now(), now(), now())`,
      { id, tokenId, region, name: `probe-${i}`, types: capabilities[i]! },
    )
  }
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at) VALUES (?, 1, ?::uuid[], now())`,
    [region, ids],
  )
  return ids
}

/** The other regions contradicted `outlier` for this many monitors. */
const disagree = (region: string, outlier: string, other: string, monitors: number, secondsAgo = 1, to: Db | Tx = db) =>
  insertDisagreements(
    to,
    Array.from({ length: monitors }, () => {
      const atMs = Date.now() - secondsAgo * 1_000
      const about = { monitorId: uuidv7(), region, scheduledAtMs: atMs, atMs }
      return { ...about, probeId: outlier, otherProbeId: other, oddProbeId: outlier }
    }),
  )

t.test(
  'A probe that often disagrees leaves the live set once, with a new epoch, also with several processes',
  async t => {
    const [a, b] = (await createRegion('eu-west', ['http'], ['http'])) as [string, string]
    await disagree('eu-west', a, b, 4)
    await drain()
    t.same(await drained(), [], 'four monitors are not enough')
    await disagree('eu-west', a, b, 5)
    await Promise.all([drain(), drain(), drain()])
    t.same(await drained(), [a])
    const { epoch, probeIds } = await readEpoch('eu-west')
    t.ok(epoch > 1)
    t.same(probeIds, [b])
    await disagree('eu-west', b, a, 50)
    await drain()
    t.same(await drained(), [a], 'one at a time')

    await undrainProbe(db, a)
    t.same(await drained(), [])
    await drain()
    t.same(await drained(), [], 'what it was drained for is forgotten')
    await t.rejects(undrainProbe(db, a), /no drained probe has the id/)
    await t.rejects(undrainProbe(db, 'me'), /no drained probe has the id "me"/)
  },
)

t.test('Many monitors of one host do not drain a probe, because its firewall may refuse the probe', async t => {
  const [a, b] = (await createRegion('ap-northeast', ['http'], ['http'])) as [string, string]
  const { projectId } = await insertTenant(db)
  const atMs = Date.now() - 1_000
  const contradict = async (host: (i: number) => string) => {
    const ids = await insertMonitors(db, projectId, 6)
    for (const [i, id] of ids.entries())
      await execute(db, 'UPDATE monitors SET url = ? WHERE id = ?', [`https://${host(i)}/${i}`, id])
    const seen = { region: 'ap-northeast', scheduledAtMs: atMs, atMs, probeId: a, otherProbeId: b, oddProbeId: a }
    await insertDisagreements(
      db,
      ids.map(monitorId => ({ ...seen, monitorId })),
    )
    await drain()
    return (await drained()).includes(a)
  }
  t.equal(await contradict(() => 'shop.example'), false)
  t.equal(await contradict(i => `shop-${i}.example`), true)
  await undrainProbe(db, a)
})

t.test('A drained probe gets work again after an hour', async t => {
  const [a, b] = (await createRegion('ap-southeast', ['http'], ['http'])) as [string, string]
  // in one transaction, in which no time passes
  const [row] = await db.transaction(async tx => {
    await disagree('ap-southeast', a, b, 5, 599, tx)
    await drainOutliers(tx)
    return query<{ seconds: number }>(
      tx,
      `SELECT EXTRACT(EPOCH FROM drained_until - now())::integer AS seconds FROM probes WHERE id = ?`,
      [a],
    )
  })
  t.equal(row!.seconds, 3_600)
  t.same(await drained(), [a])
  await execute(db, 'UPDATE probes SET drained_until = now() WHERE id = ?', [a])
  t.same(await drained(), [])
  const seen = await listProbeStates(db, 'ap-southeast')
  t.same(new Set(seen.map(({ isDrained }) => isDrained)), new Set([false]))
})

t.test('Disagreements older than ten minutes do not count', async t => {
  const [a, b] = (await createRegion('us-east', ['http'], ['http'])) as [string, string]
  await disagree('us-east', a, b, 20, 601)
  await drain()
  t.same(await drained(), [])
})

t.test('The last probe of a region that can run a type is never drained', async t => {
  const [alone] = (await createRegion('us-west', ['http'])) as [string]
  await disagree('us-west', alone, uuidv7(), 20)
  const [pinger, other] = (await createRegion('eu-central', ['http', 'ping'], ['http'])) as [string, string]
  await disagree('eu-central', pinger, other, 20)
  await drain()
  t.same(await drained(), [])
})

t.test('A repeated disagreement is stored once, and all are deleted after a day', async t => {
  await execute(db, 'DELETE FROM probe_disagreements')
  const ids = { monitorId: uuidv7(), probeId: uuidv7(), otherProbeId: uuidv7(), oddProbeId: null }
  const row = { ...ids, region: 'eu-west', scheduledAtMs: Date.now(), atMs: Date.now() }
  await insertDisagreements(db, [row])
  await insertDisagreements(db, [row])
  await disagree('eu-west', uuidv7(), uuidv7(), 2, 86_401)
  t.equal(await pruneDisagreements(db), 2)
  t.equal((await query(db, 'SELECT FROM probe_disagreements')).length, 1)
})
