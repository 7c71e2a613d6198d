/**
 * The time until a restarted reader counts results again at a high rate of results. The process is stopped after more than
 * two minutes, which it would have to read again without checkpoints, and another one is started.
 */
import { monotonicMs, sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import { startPicket } from '../support/picket.ts'
import type { Program } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { startFeed } from './feed.ts'
import { connectBench, type Figure, figure, REGIONS, readMetric } from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'

const MONITORS = 4_500
const RESULTS_A_SECOND = Number(process.env.RESTART_RATE ?? 45_000)
const FEED_MS = 130_000
const COUNTED = 'picket_verdict_results_total{kind="counted"}'

type Verdict = { program: Program; operator: string }

export async function benchRestart(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [], env: { ROLES: 'api' } })
  const ids = await seedMonitors(picket.databaseUrl, MONITORS)
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const nats = await connectBench(t, picket)
  const startVerdict = async (): Promise<Verdict> => {
    const program = await picket.addControlPlane({ ROLES: 'verdict' })
    const { operator_port } = await program.untilEvent('ready')
    return { program, operator: `http://127.0.0.1:${operator_port}` }
  }
  const counted = ({ operator }: Verdict) => readMetric(operator, COUNTED)

  const before = await startVerdict()
  const feed = startFeed(t, nats, ids, RESULTS_A_SECOND)
  const { published } = feed
  const beganMs = monotonicMs()
  await sleep(FEED_MS)
  const rate = published() / ((monotonicMs() - beganMs) / 1_000)
  await waitFor(async () => (await counted(before)) > published() - rate, { label: 'the first process keeps up' })

  await before.program.stop()
  const stoppedAt = published()
  const startedMs = monotonicMs()
  const after = await startVerdict()
  const readyMs = monotonicMs()
  await waitFor(async () => (await counted(after)) > 0, { everyMs: 20, label: 'a result is counted' })
  const firstMs = monotonicMs()
  await waitFor(async () => (await counted(after)) > published() - stoppedAt - rate, {
    everyMs: 50,
    label: 'caught up',
  })
  const caughtUpMs = monotonicMs()
  await feed.stop()
  const recalled = await readMetric(after.operator, 'picket_verdict_recalled_total')
  const seconds = (ms: number) => `${((ms - readyMs) / 1_000).toFixed(2)} s`
  return [
    figure(
      `a verdict process is replaced while ${Math.round(rate).toLocaleString('en')} results a second arrive: ready → first counted result`,
      `${seconds(firstMs)} (started in ${((readyMs - startedMs) / 1_000).toFixed(2)} s; less than a second behind after ${seconds(caughtUpMs)}; ${recalled.toLocaleString('en')} results read again)`,
      '≤ 3 s',
      firstMs - readyMs <= 3_000,
    ),
  ]
}
