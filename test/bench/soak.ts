/**
 * A soak test: results at a constant high rate for an hour while parts are killed and restarted. Measures whether the memory
 * of the processes remains constant. Runs only when it is named.
 */
import { readFileSync } from 'node:fs'
import { execute, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Program } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { startFeed } from './feed.ts'
import { connectBench, type Engines, type Figure, figure, REGIONS, readMetric } from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60)
/** 80 % of the rate that one process reaches on this machine without other load (`npm run bench ingest`) */
const RESULTS_A_SECOND = Number(process.env.SOAK_RATE ?? 70_000)
const LEVEL_AFTER_MINUTES = Math.min(10, MINUTES / 3)
const MONITORS = 5_000
const SAMPLE_MS = 5_000
const FAULT_EVERY_MS = 60_000

type Sample = { minute: number; bytes: number }

export async function benchSoak(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [], env: { ROLES: 'api,fleet,deliver,schedule' } })
  const ids = await seedMonitors(picket.databaseUrl, MONITORS)
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const readers: Program[] = []
  for (const ROLES of ['verdict', 'record']) readers.push(await picket.addControlPlane({ ROLES }))
  const feed = startFeed(t, await connectBench(t, picket), ids, RESULTS_A_SECOND)

  const samples = new Map<string, Sample[]>()
  const processes: [string, Program][] = [
    ['front', picket.controlPlane],
    ['verdict', readers[0]!],
    ['record', readers[1]!],
  ]
  const beganMs = monotonicMs()
  let faults = 0
  for (let nextFaultMs = beganMs + FAULT_EVERY_MS; monotonicMs() - beganMs < MINUTES * 60_000; ) {
    await sleep(SAMPLE_MS)
    const minute = (monotonicMs() - beganMs) / 60_000
    for (const [name, { pid }] of processes) {
      samples.set(name, [...(samples.get(name) ?? []), { minute, bytes: residentBytes(pid) }])
    }
    if (monotonicMs() < nextFaultMs) continue
    await FAULTS[faults++ % FAULTS.length]!(picket)
    nextFaultMs += FAULT_EVERY_MS
  }
  await feed.stop()
  const metricsOf = async (program: Program) => `http://127.0.0.1:${(await program.untilEvent('ready')).operator_port}`
  const verdict = await metricsOf(readers[0]!)
  const counted = () => readMetric(verdict, 'picket_verdict_results_total{kind="counted"}')
  await waitFor(async () => (await counted()) >= feed.published(), { label: 'everything acknowledged is counted' })
  const rate = Math.round(feed.published() / (MINUTES * 60))
  return processes.map(([name]) => {
    const level = samples.get(name)!.filter(({ minute }) => minute > LEVEL_AFTER_MINUTES)
    const { mean, perHour } = slopeOf(level)
    const share = (perHour / mean) * 100
    return figure(
      `memory of the process ${name} over ${MINUTES} minutes at ${rate.toLocaleString('en')} results a second with ${faults} faults: mean, slope by least squares after ${LEVEL_AFTER_MINUTES} minutes`,
      `${Math.round(mean / 2 ** 20)} MiB, ${share.toFixed(1)} % an hour`,
      '< 1 % an hour',
      share < 1,
    )
  })
}

/** The faults, applied one at a time. Each has ended when it resolves. None of them ends a process whose memory is measured. */
const FAULTS: ((picket: Picket) => Promise<void>)[] = [
  async ({ nats }) => {
    await nats.kill9()
    await nats.restart()
  },
  async ({ databaseUrl }) => {
    await withPostgres(databaseUrl, db =>
      execute(
        db,
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      ),
    )
  },
]

function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line![1]) * 1_024
}

/** Fits a line to the samples by least squares. */
function slopeOf(samples: Sample[]): { mean: number; perHour: number } {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(({ bytes }) => bytes))]
  const covariance = mean(samples.map(({ minute, bytes }) => (minute - x) * (bytes - y)))
  const variance = mean(samples.map(({ minute }) => (minute - x) ** 2))
  return { mean: y, perHour: (covariance / variance) * 60 }
}
