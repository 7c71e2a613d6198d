/**
 * Results a second through one verdict process and through two, from the same stream in turns. Measures four seconds in the
 * middle of a backlog, when every process reads its share of the partitions.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { execute, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { PARTITIONS } from '../../shared/nats/subjects.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Program } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import {
  connectBench,
  cpuUs,
  encodeBatches,
  type Figure,
  figure,
  percentile,
  publishAll,
  REGIONS,
  readMetric,
} from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'

const MONITORS = 4_000
const SLOTS = 420
const RESULTS_A_MESSAGE = 100
const ROUNDS = 3
const WINDOW_MS = 4_000

export async function benchPartitions(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  await picket.controlPlane.stop()
  const ids = await seedMonitors(picket.databaseUrl, MONITORS)
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const nats = await connectBench(t, picket)
  const startMs = Date.now() - SLOTS * 1_000
  for (let slot = 0; slot < SLOTS; slot++) {
    const shots = ids.map(monitorId => ({ monitorId, scheduledAtMs: startMs + slot * 1_000, up: true }))
    for (const region of REGIONS) await publishAll(nats, encodeBatches(shots, region, RESULTS_A_MESSAGE))
  }

  const rounds: { one: Throughput; two: Throughput }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ one: await throughput(picket, 1), two: await throughput(picket, 2) })
  }
  const median = (of: (round: (typeof rounds)[number]) => number) => percentile(rounds.map(of), 0.5)
  const line = (which: 'one' | 'two') =>
    `${Math.round(median(round => round[which].perSecond)).toLocaleString('en')} a second; cores: verdict ${median(round => round[which].verdictCores).toFixed(2)}, NATS ${median(round => round[which].natsCores).toFixed(2)}`
  const ratios = rounds.map(({ one, two }) => two.perSecond / one.perSecond)
  const perResult = (which: 'one' | 'two') =>
    `${median(round => (round[which].verdictCores * 1e6) / round[which].perSecond).toFixed(2)} µs`
  return [
    figure('results through one verdict process', line('one')),
    figure(
      '  through two',
      `${line('two')}; ${percentile(ratios, 0.5).toFixed(2)} times one (median of ${ROUNDS} turns)`,
    ),
    figure('  CPU time of the verdict a result, one process / two', `${perResult('one')} / ${perResult('two')}`),
  ]
}

type Throughput = { perSecond: number; verdictCores: number; natsCores: number }
type Verdict = { program: Program; operator: string }

/** Reads the stream from the first message: steady results change only the position in PostgreSQL. */
async function throughput(picket: Picket, processes: number): Promise<Throughput> {
  await withPostgres(picket.databaseUrl, db =>
    execute(db, 'UPDATE partitions SET position = 0, stream_created = NULL, owner = NULL, lease_until = NULL'),
  )
  const verdicts = await startVerdicts(picket, processes)
  const each = (metric: string) => Promise.all(verdicts.map(({ operator }) => readMetric(operator, metric)))
  const isShared = async () => {
    const owned = await each('picket_verdict_partitions_owned')
    const read = await each('picket_verdict_results_total{kind="counted"}')
    return owned.every(count => count === PARTITIONS / processes) && read.every(count => count > 0)
  }
  await waitFor(isShared, { timeoutMs: 60_000, everyMs: 20, label: 'all partitions assigned' })

  const look = async () => {
    const counted = await each('picket_verdict_results_total{kind="counted"}')
    const verdictUs = verdicts.reduce((sum, { program }) => sum + cpuUs(program.pid), 0)
    return { atMs: performance.now(), counted: sum(counted), verdictUs, natsUs: cpuUs(picket.nats.pid) }
  }
  const before = await look()
  await pause(WINDOW_MS)
  const after = await look()
  if (after.counted >= MONITORS * SLOTS * REGIONS.length) {
    throw new Error('the backlog was too short for this machine')
  }
  for (const { program } of verdicts) await program.stop()
  const us = (after.atMs - before.atMs) * 1_000
  return {
    perSecond: ((after.counted - before.counted) / us) * 1e6,
    verdictCores: (after.verdictUs - before.verdictUs) / us,
    natsCores: (after.natsUs - before.natsUs) / us,
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)

function startVerdicts(picket: Picket, count: number): Promise<Verdict[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const program = await picket.addControlPlane({ ROLES: 'verdict' })
      const { operator_port } = await program.untilEvent('ready')
      return { program, operator: `http://127.0.0.1:${operator_port}` }
    }),
  )
}
