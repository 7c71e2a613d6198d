import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { OWNERSHIP_INTERVAL_MS } from '../../control-plane/verdict/reader/worker.ts'
import { computePartition } from '../../shared/nats/subjects.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { testEnv } from '../support/picket.ts'
import { type Program, startProgram } from '../support/processes.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { createNextResult, insertMonitors, publish, readStatuses, startVerdictEngines } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const clickhouse = await createClickhouseDatabase(t)
const { url, server, db, nats, projectId } = await startVerdictEngines(t)

const OWNERSHIP_ROUNDS = 'picket_loop_rounds_total{loop="verdict-ownership",outcome="ok"}'

type Verdict = Program & { metric(name: string): Promise<number | null> }

/** The control plane as a process of the role verdict. */
async function startVerdict(t: Teardown, natsUrl: string): Promise<Verdict> {
  const env = { DATABASE_URL: url, CLICKHOUSE_URL: clickhouse.url, ...testEnv(), PORT: '0', GRPC_PORT: '0' }
  const program = startProgram(t, {
    program: 'dist/control-plane.js',
    env: { ...env, NATS_URL: natsUrl, ROLES: 'verdict' },
  })
  const { operator_port: port } = await program.untilEvent('ready')
  const metric = async (name: string) => {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(answer => answer.text())
    const line = text.split('\n').find(one => one.startsWith(`${name} `))
    return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ')))
  }
  return Object.assign(program, { metric })
}

const readOwners = () =>
  query<{ id: number; owner: string | null; epoch: number; isLive: boolean }>(
    db,
    'SELECT id, owner, epoch, coalesce(lease_until > clock_timestamp(), false) AS "isLive" FROM partitions ORDER BY id',
  )

/** How many partitions each owner has, with live leases only: "8 8". */
async function split(): Promise<string> {
  const counts = new Map<string, number>()
  for (const { owner, isLive } of await readOwners()) {
    if (owner !== null && isLive) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return [...counts.values()].sort((a, b) => a - b).join(' ')
}

const settles = (wanted: string) => waitFor(async () => (await split()) === wanted, { label: wanted })

const fire = (ids: string[], up: boolean) =>
  publish(
    nats,
    ids.map(id => createNextResult(id, { up })),
  )

const howMany = async (ids: string[], status: string) =>
  (await query(db, 'SELECT FROM monitors WHERE id = ANY(?) AND status = ?', [ids, status] as never)).length

const all = (ids: string[], status: string) =>
  waitFor(async () => (await howMany(ids, status)) === ids.length, {
    label: `${ids.length} monitors ${status}`,
  })

/** Ten seconds, and a round under way at the begin and at the end. */
const MAX_HANDOVER_MS = 10_000 + 2 * OWNERSHIP_INTERVAL_MS

for (const how of ['silent', 'refused'] as const) {
  t.test(
    `Another process takes the partitions within ten seconds of its rounds from one whose link to NATS is ${how}`,
    async t => {
      const ids = await insertMonitors(db, projectId, 64)
      const relays = [await startTcpRelay(t, server.url), await startTcpRelay(t, server.url)] as const
      const [cutOff, other] = [await startVerdict(t, relays[0].url), await startVerdict(t, relays[1].url)]
      await settles('8 8')
      await fire(ids, true)
      await all(ids, 'up')

      const rounds = async () => (await other.metric(OWNERSHIP_ROUNDS)) ?? 0
      const before = await rounds()
      if (how === 'silent') relays[0].swallow()
      else await relays[0].cut()
      await fire(ids, false)
      await settles('16')
      const after = (await rounds()) - before
      t.comment(`the other process has all partitions after ${after} of its rounds`)
      t.ok(after * OWNERSHIP_INTERVAL_MS <= MAX_HANDOVER_MS, `${after} rounds of ${OWNERSHIP_INTERVAL_MS} ms`)
      await all(ids, 'down')
      t.equal(await other.metric('picket_verdict_partitions_owned'), 16)

      await relays[0].restore()
      await settles('8 8')
      await fire(ids, true)
      await all(ids, 'up')
      for (const id of ids) t.equal(await readStatuses(db, id), 'up down up', 'each change once')
      await Promise.all([cutOff.stop(), other.stop()])
    },
  )
}

t.test('Owners keep their partitions and memory while NATS is unavailable for all', async t => {
  const ids = await insertMonitors(db, projectId, 64, { retryCount: 1 })
  const processes = [await startVerdict(t, server.url), await startVerdict(t, server.url)]
  await settles('8 8')
  await fire(ids, true)
  await all(ids, 'up')
  const before = (await readOwners()).map(({ owner, epoch }) => ({ owner, epoch }))

  await server.kill9()
  await waitFor(async () => (await split()) === '', { label: 'no lease' })
  for (const process of processes) {
    await waitFor(async () => (await process.metric('picket_verdict_partitions_owned')) === 0)
  }
  const rounds = async (process: Verdict) => (await process.metric(OWNERSHIP_ROUNDS)) ?? 0
  for (const process of processes) {
    const first = await rounds(process)
    await waitFor(async () => (await rounds(process)) > first + 4, { label: 'four more rounds' })
  }
  t.same(
    (await readOwners()).map(({ owner, epoch }) => ({ owner, epoch })),
    before,
    'the same owners in the same epochs',
  )
  await server.restart()
  await waitFor(() => fire(ids, false).then(() => true), { label: 'NATS' })
  await settles('8 8')
  await fire(ids, false)
  await all(ids, 'down')
  for (const id of ids) t.equal(await readStatuses(db, id), 'up down', 'each change once')
  await Promise.all(processes.map(process => process.stop()))
})

t.test('Other processes report the lag of a partition that no process reads', async t => {
  const [id] = await insertMonitors(db, projectId, 1)
  const process = await startVerdict(t, server.url)
  await settles('16')
  const partition = computePartition(id!)
  const lag = () => process.metric(`picket_verdict_lag_messages{partition="${partition}"}`)
  await fire([id!], true)
  await all([id!], 'up')
  await waitFor(async () => (await lag()) === 0, { label: 'no lag' })
  // its owner holds the lease and reads nothing
  const lease = `lease_until = clock_timestamp() + interval '7 s'`
  await execute(db, `UPDATE partitions SET owner = 'other', epoch = epoch + 1, ${lease} WHERE id = ?`, [partition])
  const renew = () => execute(db, `UPDATE partitions SET ${lease} WHERE id = ? AND owner = 'other'`, [partition])
  const renewing = setInterval(() => void renew(), 500)
  t.teardown(() => clearInterval(renewing))
  await settles('1 15')
  await fire([id!], false)
  const first = await waitFor(lag, { label: 'a lag' })
  await fire([id!], false)
  await waitFor(async () => ((await lag()) ?? 0) > first, { label: 'a larger lag' })
  clearInterval(renewing)
  await all([id!], 'down')
  await waitFor(async () => (await lag()) === 0, { label: 'no lag' })
  await process.stop()
})
