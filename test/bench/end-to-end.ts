/**
 * CPU time a check over every process of a whole Picket: control plane, probes of three regions, NATS, PostgreSQL and
 * ClickHouse, while they watch healthy monitors for half a minute.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { measureBareLoop } from './probe.ts'
import {
  compareWithKuma,
  createMonitors,
  type Engines,
  type Figure,
  figure,
  REGIONS,
  readMetric,
  treeCpuUs,
} from './rig.ts'

const MONITORS = 3_000
const INTERVAL_S = 30
const SECONDS = 30
const MAX_US = 500
const WARM_MS = 60_000

export async function benchEndToEnd(t: Teardown, engines: Engines): Promise<Figure[]> {
  const target = fork(new URL('probe.ts', import.meta.url), ['serve'])
  t.teardown(() => target.kill())
  const [port] = await once(target, 'message')
  const url = `http://127.0.0.1:${port}/`
  const compare = await measureBareLoop(url, MONITORS / INTERVAL_S)
  const picket = await startPicket(t, { regions: REGIONS })
  await createMonitors(picket.api, MONITORS, { url, interval_seconds: INTERVAL_S })
  await pause(35_000)

  const parts = {
    'control plane': [picket.controlPlane.pid],
    probes: picket.probes.map(probe => probe.pid),
    NATS: [picket.nats.pid],
    PostgreSQL: [engines.postgres],
    ClickHouse: [engines.clickhouse],
  }
  const spent = () => Object.values(parts).map(pids => pids.reduce((sum, pid) => sum + treeCpuUs(pid), 0))
  const counted = () => readMetric(picket.operator, 'picket_verdict_results_total{kind="counted"}')
  const measure = async () => {
    const [checksBefore, before] = [await counted(), spent()]
    await pause(SECONDS * 1_000)
    const checks = (await counted()) - checksBefore
    const each = spent().map((us, i) => Math.round((us - before[i]!) / checks))
    const list = Object.keys(parts).map((name, i) => `${name} ${each[i]}`)
    return { checks, total: each.reduce((sum, us) => sum + us, 0), list: list.join(', ') }
  }
  const first = await measure()
  await pause(WARM_MS)
  const { checks, total, list } = await measure()
  return [
    figure(
      `end to end: CPU time a check, all processes (${MONITORS.toLocaleString('en')} monitors × ${REGIONS.length} regions, ${Math.round(checks / SECONDS)} checks a second), after two minutes`,
      `${total} µs; ${compareWithKuma(total)}`,
      `≤ ${MAX_US} µs`,
      total <= MAX_US,
    ),
    compare(total),
    figure('  of which', list),
    figure('  in the first minute, while V8 compiles', `${first.total} µs: ${first.list}`),
  ]
}
