/**
 * A hundred thousand monitors in six regions. Measures the start time of the control plane, the time until one probe has
 * received all of them, and the memory of each in the verdict.
 */
import { Assignments } from '../../proto/gen/probe/v1/fleet.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import { PARTITIONS } from '../../shared/nats/subjects.ts'
import { all, connectProbe } from '../support/fleet.ts'
import { type Picket, startPicket } from '../support/picket.ts'
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
  READABLE_MEMORY,
  readMemory,
  readMetric,
} from './rig.ts'
import { seedMonitors, seedVerdicts } from './seed.ts'

const MONITORS = 100_000
const ROUNDS = 3
const THOUSANDS = MONITORS.toLocaleString('en')

export async function benchSnapshot(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  await picket.controlPlane.stop()
  const none = await verdictHeap(picket, async () => {})
  const noneFleet = await measureHeap(picket, 'fleet', async () => {})
  const ids = await seedMonitors(picket.databaseUrl, MONITORS, { regions: [...REGIONS] })
  await seedVerdicts(picket.databaseUrl, ids, REGIONS)
  const nats = await connectBench(t, picket)
  const publish = async (shots: { ids: string[]; atMs: number }) => {
    const up = shots.ids.map(monitorId => ({ monitorId, scheduledAtMs: shots.atMs, up: true }))
    for (const region of REGIONS) await publishAll(nats, encodeBatches(up, region, 100))
  }

  const starts: Start[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await publish({ ids: ids.slice(0, 1_600), atMs: Date.now() })
    starts.push(await startWith(picket, 1_600 * REGIONS.length))
    if (round < ROUNDS - 1) await picket.controlPlane.stop()
  }
  const snapshots = await takeSnapshots(t, picket)
  await picket.controlPlane.stop()
  const full = await verdictHeap(picket, async operator => {
    for (let slot = 0; slot < 2; slot++) await publish({ ids, atMs: Date.now() + slot })
    await counted(operator, 2 * MONITORS * REGIONS.length)
  })
  const fullFleet = await measureHeap(picket, 'fleet', async () => {})
  return buildFigures({ starts, snapshots, verdict: { none, full }, fleet: { none: noneFleet, full: fullFleet } })
}

/** `cpuMs`: CPU time of the process until it was ready. Other load does not change it. */
type Start = { readyMs: number; cpuMs: number; countedMs: number }
type Memory = { heapUsed: number; rss: number; cpuMs: number }
/** with no monitors, and with all */
type Grown = { none: Memory; full: Memory }
type Measured = {
  starts: Start[]
  snapshots: { ms: number; bytes: number }[]
  verdict: Grown
  fleet: Grown
}

function buildFigures({ starts, snapshots, verdict, fleet }: Measured): Figure[] {
  const median = (values: number[]) => percentile(values, 0.5)
  const seconds = (values: number[]) => (median(values) / 1_000).toFixed(1)
  const readyMs = starts.map(start => start.readyMs)
  const snapshotMs = snapshots.map(snapshot => snapshot.ms)
  const heapOfOne = ({ none, full }: Grown) => (full.heapUsed - none.heapUsed) / MONITORS
  const memory = (grown: Grown) =>
    `${Math.round(heapOfOne(grown)).toLocaleString('en')} B (${mb(grown.full.heapUsed)} less ${mb(grown.none.heapUsed)}; resident ${mb(grown.full.rss)} and ${mb(grown.none.rss)})`
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  return [
    figure(
      `start of the control plane with ${THOUSANDS} monitors × ${REGIONS.length} regions: process → /readyz (median of ${ROUNDS})`,
      `${seconds(readyMs)} s, of which ${seconds(starts.map(start => start.cpuMs))} s of CPU time; until the verdict counts in all partitions ${seconds(starts.map(start => start.countedMs))} s`,
      '≤ 10 s',
      median(readyMs) <= 10_000,
    ),
    figure(
      `snapshot of ${THOUSANDS} monitors to one probe: connect → last chunk (median of ${ROUNDS})`,
      `${seconds(snapshotMs)} s, ${mb(snapshots[0]!.bytes)}`,
      '≤ 3 s',
      median(snapshotMs) <= 3_000,
    ),
    figure(
      `memory a monitor of ${REGIONS.length} regions in the verdict process: heap after gc, with ${THOUSANDS} less with none`,
      memory(verdict),
      '≤ 2 kB',
      heapOfOne(verdict) <= 2_000,
    ),
    figure(
      '  the same of the role fleet',
      `${memory(fleet)}; CPU time until ready ${(fleet.full.cpuMs / 1_000).toFixed(1)} s and ${(fleet.none.cpuMs / 1_000).toFixed(1)} s`,
    ),
  ]
}

async function startWith(picket: Picket, results: number): Promise<Start> {
  const started = performance.now()
  const isReady = async () => (await fetch(`${picket.operator}/readyz`)).ok
  const starting = picket.restartControlPlane()
  await waitFor(isReady, { timeoutMs: 120_000, label: 'readiness' })
  const readyMs = performance.now() - started
  const cpuMs = cpuUs(picket.controlPlane.pid) / 1_000
  await starting
  await counted(picket.operator, results)
  return { readyMs, cpuMs, countedMs: performance.now() - started }
}

const counted = (operator: string, results: number) =>
  waitFor(async () => (await readMetric(operator, 'picket_verdict_results_total{kind="counted"}')) >= results, {
    timeoutMs: 600_000,
    everyMs: 50,
    label: `${results} results counted`,
  })

/** Connects a new probe repeatedly. The first connection causes a new epoch of its region and is not counted. */
async function takeSnapshots(t: Teardown, picket: Picket): Promise<{ ms: number; bytes: number }[]> {
  const token = await picket.admin('probe-token', 'create', '--region', REGIONS[0], '--reusable')
  const port = picket.controlPlane.lines.find(line => line.event === 'ready')!.grpc_port
  const taken: { ms: number; bytes: number }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now()
    const probe = connectProbe(t, port, token)
    await waitFor(() => all(probe, 'assignments').some(chunk => chunk.isLast), { timeoutMs: 60_000, everyMs: 10 })
    const ms = performance.now() - started
    probe.cut()
    if (probe.assigned.size !== MONITORS) throw new Error(`the snapshot held ${probe.assigned.size} monitors`)
    const bytes = all(probe, 'assignments').reduce((sum, chunk) => sum + Assignments.encode(chunk).finish().length, 0)
    taken.push({ ms, bytes })
  }
  return taken.slice(1)
}

/** The same for the role verdict, after it owns all partitions and `work` is done. */
function verdictHeap(picket: Picket, work: (operator: string) => Promise<unknown>): Promise<Memory> {
  return measureHeap(picket, 'verdict', async operator => {
    const owned = async () => (await readMetric(operator, 'picket_verdict_partitions_owned')) === PARTITIONS
    await waitFor(owned, { timeoutMs: 60_000, label: 'all partitions' })
    await work(operator)
  })
}

/** Measures the heap of a process with one role after its start and `work`, without garbage, and the cost of its start. */
async function measureHeap(
  picket: Picket,
  role: string,
  work: (operator: string) => Promise<unknown>,
): Promise<Memory> {
  const program = await picket.addControlPlane({ ROLES: role, ...READABLE_MEMORY })
  const { operator_port } = await program.untilEvent('ready')
  const cpuMs = cpuUs(program.pid) / 1_000
  await work(`http://127.0.0.1:${operator_port}`)
  const { heapUsed, rss } = await readMemory(program)
  await program.stop()
  return { heapUsed, rss, cpuMs }
}
