/**
 * A soak test: results at a constant high rate for an hour while parts are killed and restarted. Measures whether the memory
 * of the processes remains constant. Runs only when it is named.
 */
import { execute, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import { RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { startFeed } from './feed.ts'
import {
  connectBench,
  type Engines,
  type Figure,
  figure,
  READABLE_MEMORY,
  REGIONS,
  readMemory,
  readMetric,
} from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60)
/** 80 % of the rate that one process reaches on this machine without other load (`npm run bench ingest`) */
const RESULTS_A_SECOND = Number(process.env.SOAK_RATE ?? 70_000)
const LEVEL_AFTER_MINUTES = Math.min(10, Math.round(MINUTES / 3))
/**
 * Until memory has to be level, faults follow each other quickly: V8 compiles a function after it has been called often, and the functions that
 * a fault reaches are called rarely.
 */
const FAULTS_A_MINUTE_AT_FIRST = 4
/** in which the processes recover */
const AFTER_FAULT_MS = 10_000
const MONITORS = 5_000

/** In bytes, after garbage collection, while nothing is on its way. `used`: heap and buffers, with `compiled` code. */
type Sample = { minute: number; used: number; compiled: number; resident: number }

export async function benchSoak(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const env = { ROLES: 'api,fleet,deliver,schedule', ...READABLE_MEMORY }
  const picket = await startPicket(t, { regions: [], env })
  const ids = await seedMonitors(picket.databaseUrl, MONITORS)
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const verdict = await picket.addControlPlane({ ROLES: 'verdict' })
  const record = await picket.addControlPlane({ ROLES: 'record' })
  const nats = await connectBench(t, picket)
  const feed = startFeed(t, nats, ids, RESULTS_A_SECOND)

  const programs = { front: picket.controlPlane, verdict, record }
  const samples = new Map<string, Sample[]>(Object.keys(programs).map(name => [name, []]))
  const { operator_port } = await verdict.untilEvent('ready')
  const readResults = (kind: string) =>
    readMetric(`http://127.0.0.1:${operator_port}`, `picket_verdict_results_total{kind="${kind}"}`)
  const isProcessed = async () => {
    const { num_pending, num_ack_pending } = await nats.manager.consumers.info(RESULTS_STREAM, 'record')
    const kinds = await Promise.all(['counted', 'late', 'history'].map(readResults))
    missing = `${feed.published()} acknowledged; ${kinds.join(', ')} counted, late, history; ${num_pending} and ${num_ack_pending} messages not stored`
    return num_pending + num_ack_pending === 0 && kinds[0]! >= feed.published()
  }
  // written again by each attempt, so that a failure says what is missing
  let missing = ''
  const untilProcessed = () =>
    waitFor(isProcessed, { label: () => `everything acknowledged is counted and stored: ${missing}` })
  const beganMs = monotonicMs()
  let faults = 0
  for (let minute = 1; minute <= MINUTES; minute++) {
    await sleep(beganMs + minute * 60_000 - monotonicMs())
    await feed.pause()
    await untilProcessed()
    for (const [name, program] of Object.entries(programs)) {
      const { heapUsed, external, compiled, rss } = await readMemory(program)
      samples.get(name)!.push({ minute, used: heapUsed + external, compiled, resident: rss })
    }
    feed.resume()
    if ((await readResults('refused_future')) > 0) throw new Error('The verdict refuses results of the feed.')
    for (let left = minute < LEVEL_AFTER_MINUTES ? FAULTS_A_MINUTE_AT_FIRST : 1; left > 0; left--) {
      await FAULTS[faults++ % FAULTS.length]!(picket)
      await sleep(AFTER_FAULT_MS)
    }
  }
  await feed.stop()
  await untilProcessed()
  const rate = Math.round(feed.published() / (MINUTES * 60)).toLocaleString('en')
  return Object.keys(programs).map(name => {
    const level = samples.get(name)!.filter(({ minute }) => minute > LEVEL_AFTER_MINUTES)
    const fit = (part: 'used' | 'compiled' | 'resident') =>
      computeSlope(level.map(sample => [sample.minute, sample[part]]))
    const [used, compiled, resident] = [fit('used'), fit('compiled'), fit('resident')]
    return figure(
      `memory of the process ${name} over ${MINUTES} minutes at ${rate} results a second with ${faults} faults, read each minute after garbage collection while the feed pauses: slope of heap and buffers by least squares after ${LEVEL_AFTER_MINUTES} minutes (± standard error)`,
      `${describe(used)}; of it compiled code ${describe(compiled)}; resident ${describe(resident)}`,
      '< 1 % an hour',
      used.percentAnHour < 1 && resident.percentAnHour < 1,
    )
  })
}

const describe = ({ mean, percentAnHour, error }: Slope) =>
  `${Math.round(mean / 2 ** 20)} MiB, ${percentAnHour.toFixed(1)} ± ${error.toFixed(1)} % an hour`

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

/** `percentAnHour` and its standard `error`: of the mean */
type Slope = { mean: number; percentAnHour: number; error: number }

/** Fits a line to points of minute and bytes by least squares. */
function computeSlope(points: [number, number][]): Slope {
  const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, mean] = [average(points.map(([minute]) => minute)), average(points.map(([, bytes]) => bytes))]
  const variance = average(points.map(([minute]) => (minute - x) ** 2))
  const perMinute = average(points.map(([minute, bytes]) => (minute - x) * (bytes - mean))) / variance
  const residual = average(points.map(([minute, bytes]) => (bytes - mean - perMinute * (minute - x)) ** 2))
  const errorPerMinute = Math.sqrt(residual / variance / (points.length - 2))
  const toPercentAnHour = (value: number) => (value / mean) * 60 * 100
  return { mean, percentAnHour: toPercentAnHour(perMinute), error: toPercentAnHour(errorPerMinute) }
}
