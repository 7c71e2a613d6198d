import { randomBytes } from 'node:crypto'
import t from 'tap'
import { connectNats, ensureStreams, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createNatsObjectStore } from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import {
  CLOCK_STREAM,
  LATE_STREAM,
  PINGS_STREAM,
  RESULTS_STREAM,
  SCREENSHOTS_BUCKET,
  SCREENSHOTS_STREAM,
  STORED_PING_SUBJECT,
} from '../../shared/nats/subjects.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startNatsCluster } from '../support/nats-cluster.ts'
import { startProgram } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

const MIB = 1024 * 1024
const settings = (replicas: number) => ({ replicas, maxBytes: { [RESULTS_STREAM]: MIB, [LATE_STREAM]: MIB } })
const FILE_STREAMS = [SCREENSHOTS_STREAM, PINGS_STREAM, RESULTS_STREAM, LATE_STREAM, 'OBJ_SCREENSHOTS']

async function open(t: Teardown, url: string): Promise<Nats> {
  const nats = await connectNats(url, 'test')
  t.teardown(() => nats.close())
  return nats
}

/** The replicas of each stream, by the server that leads it. */
async function readReplicas({ manager }: Nats, names = FILE_STREAMS): Promise<number[]> {
  const found = await Promise.all(names.map(name => manager.streams.info(name)))
  return found.map(({ config }) => config.num_replicas)
}

/** A cluster first moves a stream, and then says how many replicas it has. */
const untilEachHas = (nats: Nats, replicas: number) =>
  waitFor(async () => (await readReplicas(nats, [...FILE_STREAMS, CLOCK_STREAM])).every(one => one === replicas), {
    label: `${replicas} replicas of each stream`,
  })

/** The streams as a control plane with one replica leaves them, with a kept ping. */
async function createWithOneReplica(nats: Nats): Promise<void> {
  await waitFor(() => ensureStreams(nats.manager, settings(1)).then(() => true), { label: 'the streams' })
  await createNatsObjectStore(nats, SCREENSHOTS_BUCKET, { replicas: 1, maxBytes: MIB }).get('none')
  await nats.js.publish(STORED_PING_SUBJECT, '{}')
  await untilEachHas(nats, 1)
}

t.test('In a cluster, existing streams get the configured replicas and never fewer than they have', async t => {
  const nats = await open(t, await startNatsCluster(t))
  await createWithOneReplica(nats)
  // a new cluster refuses it until its leader knows the disks of all servers
  const isRaised = async () => {
    const refusals: unknown[] = []
    await ensureStreams(nats.manager, settings(3), (...refusal) => void refusals.push(refusal))
    return refusals.length === 0
  }
  await waitFor(isRaised, { label: 'no stream is refused' })
  await untilEachHas(nats, 3)
  const pings = () => nats.manager.streams.info(PINGS_STREAM)
  await waitFor(async () => (await pings()).cluster?.replicas?.filter(({ current }) => current).length === 2, {
    label: 'two more servers have the pings',
  })
  t.equal((await pings()).state.messages, 1)
  await ensureStreams(nats.manager, settings(1))
  await untilEachHas(nats, 3)
})

t.test(
  'With a single server and more replicas configured, the control plane logs an error, starts, and no stream is lost',
  async t => {
    const server = await startNats(t)
    const { url } = server
    const nats = await open(t, url)
    await createWithOneReplica(nats)
    const program = startProgram(t, {
      program: 'dist/control-plane.js',
      env: {
        DATABASE_URL: (await createDatabase(t)).url,
        CLICKHOUSE_URL: (await createClickhouseDatabase(t)).url,
        NATS_URL: url,
        NATS_REPLICAS: '3',
        SECRET_KEY: randomBytes(32).toString('base64'),
        PORT: '0',
        OPERATOR_PORT: '0',
        GRPC_PORT: '0',
      },
    })
    await program.untilEvent('ready')
    const refused = program.lines.filter(({ event }) => event === 'replicas_refused')
    t.same(
      refused.map(({ stream }) => stream),
      FILE_STREAMS,
    )
    t.match(refused[0], { replicas: 3, err: { message: /single server/ } })
    await program.stop()
    await server.restart()
    const after = await open(t, url)
    t.same(
      await readReplicas(after),
      FILE_STREAMS.map(() => 1),
    )
  },
)
