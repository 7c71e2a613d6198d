/**
 * The cost of a failure of one region compared with the same number of steady results: 5,000 monitors fail there together with
 * all their re-checks, and recover. No other region reports meanwhile, so no status changes until the end. Measures the CPU
 * time of the control plane and of all engines, which does not depend on other load.
 */
import { monotonicMs } from '../../control-plane/foundation/platform/time/clock.ts'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import {
  connectBench,
  createMonitors,
  type Engines,
  encodeBatches,
  type Figure,
  figure,
  percentile,
  publishAll,
  REGIONS,
  readMetric,
  type SampleResult,
  treeCpuUs,
} from './rig.ts'

const MONITORS = 5_000
const RETRIES = 2
const WAVES = RETRIES + 1
const ROUNDS = 5
const SLOT_MS = 1_000
const RESULTS_A_MESSAGE = 25
const COUNTED = 'picket_verdict_results_total{kind="counted"}'

type Cost = { cpuMs: number; ms: number }

export async function benchCorrelated(t: Teardown, { postgres, clickhouse }: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const nats = await connectBench(t, picket)
  const ids = await createMonitors(picket.api, MONITORS, { retry_count: RETRIES })
  const region = REGIONS[0]!
  let sent = 0
  /** Resolves when all results are counted. */
  const send = async (shots: SampleResult[], from: string) => {
    sent += shots.length
    await publishAll(nats, encodeBatches(shots, from, RESULTS_A_MESSAGE))
    const label = `${sent} results counted`
    await waitFor(async () => (await readMetric(picket.operator, COUNTED)) >= sent, { everyMs: 20, label })
  }
  let slotMs = Date.now() - 120_000
  const ups = () => ids.map(monitorId => ({ monitorId, scheduledAtMs: slotMs, up: true }))
  const wave = (up: boolean, attempt: number) =>
    send(
      ids.map(monitorId => ({ monitorId, scheduledAtMs: slotMs, attempt, up })),
      region,
    )
  const processes = [picket.controlPlane.pid, postgres, clickhouse, picket.nats.pid]
  const cpu = () => processes.reduce((sum, pid) => sum + treeCpuUs(pid), 0)
  const measureCost = async (waves: () => Promise<void>): Promise<Cost> => {
    const [startedUs, startedMs] = [cpu(), monotonicMs()]
    await waves()
    return { cpuMs: (cpu() - startedUs) / 1_000, ms: monotonicMs() - startedMs }
  }
  const slots = async () => {
    for (let i = 0; i < WAVES; i++) {
      slotMs += SLOT_MS
      await wave(true, 1)
    }
  }
  const chain = async () => {
    slotMs += SLOT_MS
    for (let attempt = 1; attempt <= WAVES; attempt++) await wave(false, attempt)
  }

  for (const one of REGIONS) await send(ups(), one)
  await slots()
  const [steady, failing, recovering]: Cost[][] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    steady!.push(await measureCost(slots))
    failing!.push(await measureCost(chain))
    recovering!.push(await measureCost(slots))
    await slots()
  }
  await chain()
  slotMs += SLOT_MS
  const answered = await measureCost(async () => {
    for (const other of REGIONS.slice(1)) await send(ups(), other)
  })
  const median = (costs: Cost[], of: keyof Cost) =>
    percentile(
      costs.map(price => price[of]),
      0.5,
    )
  const line = (what: string, costs: Cost[], isAim: boolean) => {
    const ratio = median(costs, 'cpuMs') / median(steady!, 'cpuMs')
    const results = (MONITORS * WAVES).toLocaleString('en')
    return figure(
      what,
      `${ratio.toFixed(1)} times (${results} results: ${median(costs, 'cpuMs').toFixed(0)} ms of CPU time, ` +
        `${(median(costs, 'ms') / 1_000).toFixed(1)} s; steady ${median(steady!, 'cpuMs').toFixed(0)} ms, ` +
        `${(median(steady!, 'ms') / 1_000).toFixed(1)} s)`,
      isAim ? '≤ 3 times' : '',
      isAim ? ratio <= 3 : null,
    )
  }
  return [
    line('a region fails for 5,000 monitors together: CPU time of a result compared with a steady one', failing!, true),
    line('  and recovers', recovering!, false),
    figure('  the other regions answer, and 5,000 monitors become degraded', `${answered.cpuMs} ms of CPU time`),
  ]
}
