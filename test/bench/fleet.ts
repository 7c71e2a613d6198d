/**
 * A thousand probes with assignments lose the control plane and reconnect: after a restart without delay, and after an outage
 * of one minute. The probes are simulated, 500 in each process, but use the real fleet client with its delays and jitter.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { machine } from '../../probe-agent/clock.ts'
import { connectFleet, type FleetMessageBody } from '../../probe-agent/fleet/fleet-client.ts'
import { CHECK_TYPES, REGIONS } from '../../shared/checks/check.ts'
import { createLog } from '../../shared/process/log.ts'
import { createRemoteClock } from '../../shared/process/remote-clock.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { type Engines, type Figure, figure, percentile, treeCpuUs } from './rig.ts'
import { seedMonitors } from './seed.ts'

const PROBES = 1_000
const PROCESSES = 2
const MONITORS = 10_000
const AWAY_MS = 60_000
const AIM_MS = 5_000

/** One simulated probe. `firstBatchMs`: the wall-clock time of its first assignments since `forget`. */
type ProbeObservation = {
  region: string
  epoch: number | undefined
  revision: number
  monitors: number
  firstBatchMs: number | null
  snapshots: number
}

export async function benchFleet(t: Teardown, engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [], env: { GRPC_CONNECTIONS_PER_ADDRESS: String(2 * PROBES) } })
  await seedMonitors(picket.databaseUrl, MONITORS, { regions: [...REGIONS] })
  const tokens = await Promise.all(
    REGIONS.map(region => picket.admin('probe-token', 'create', '--region', region, '--reusable')),
  )
  const url = `127.0.0.1:${picket.controlPlane.lines.find(line => line.event === 'ready')!.grpc_port}`
  const processes = Array.from({ length: PROCESSES }, (_, number) => {
    const child = fork(import.meta.filename, ['probes', url, String(number), ...tokens])
    t.teardown(() => child.kill())
    return child
  })
  await waitUntilAssigned(picket, processes)

  const pids = () => [picket.controlPlane.pid, engines.postgres]
  const [atOnce, afterAMinute] = [
    await measureReconnection(picket, processes, 0, pids),
    await measureReconnection(picket, processes, AWAY_MS, pids),
  ]
  const line = (what: string, { delaysMs, snapshots, readyMs }: Return) => {
    const [p50, p95, max] = [0.5, 0.95, 1].map(share => (percentile(delaysMs, share) / 1_000).toFixed(1))
    const text = `${p50} / ${p95} / ${max} s (${snapshots} snapshots; the control plane was ready in ${(readyMs / 1_000).toFixed(1)} s)`
    return figure(what, text, 'p95 ≤ 5 s', percentile(delaysMs, 0.95) <= AIM_MS)
  }
  return [
    line(
      `${PROBES.toLocaleString('en')} probes with ${(MONITORS * REGIONS.length).toLocaleString('en')} assignments, control plane killed and started: ready → first delta of each (p50 / p95 / max)`,
      atOnce,
    ),
    line('  the same after an outage of one minute', afterAMinute),
    figure(
      '  CPU time for each probe that reconnects, until all are connected',
      afterAMinute.cpuUs
        .map((us, i) => `${['control plane', 'PostgreSQL'][i]} ${Math.round(us / PROBES)} µs`)
        .join(', '),
    ),
  ]
}

/** `delaysMs`: from the control plane's log line "ready" to the first assignments of each probe, at least 0. */
type Return = { delaysMs: number[]; snapshots: number; readyMs: number; cpuUs: number[] }

async function measureReconnection(
  picket: Picket,
  processes: ChildProcess[],
  outageMs: number,
  pids: () => number[],
): Promise<Return> {
  await picket.controlPlane.kill9()
  for (const child of processes) child.send('forget')
  await pause(outageMs)
  const startMs = Date.now()
  await picket.restartControlPlane()
  const backMs = Date.now()
  const before = pids().map(treeCpuUs)
  const seen = await waitUntilAssigned(picket, processes)
  return {
    delaysMs: seen.map(({ firstBatchMs }) => Math.max(0, firstBatchMs! - backMs)),
    snapshots: seen.reduce((sum, { snapshots }) => sum + snapshots, 0),
    readyMs: backMs - startMs,
    cpuUs: pids().map((pid, i) => treeCpuUs(pid) - before[i]!),
  }
}

/** Waits until every probe has its assignments of the current epoch, and every assignment has a probe. */
async function waitUntilAssigned(picket: Picket, processes: ChildProcess[]): Promise<ProbeObservation[]> {
  return withPostgres(picket.databaseUrl, async db => {
    let seen: ProbeObservation[] = []
    const isSettled = async () => {
      seen = (await Promise.all(processes.map(requestStates))).flat()
      const rows = await query<{ region: string; epoch: number }>(db, 'SELECT region, epoch FROM region_epochs')
      const epochs = new Map(rows.map(({ region, epoch }) => [region, epoch]))
      const isCurrent = seen.every(one => one.firstBatchMs !== null && one.epoch === epochs.get(one.region))
      return isCurrent && seen.reduce((sum, one) => sum + one.monitors, 0) === MONITORS * REGIONS.length
    }
    const label = () => `a fleet that has its assignments (${seen.filter(one => one.firstBatchMs !== null).length})`
    await waitFor(isSettled, { timeoutMs: 180_000, everyMs: 500, label })
    return seen
  })
}

async function requestStates(child: ChildProcess): Promise<ProbeObservation[]> {
  child.send('report')
  const [seen] = await once(child, 'message')
  return seen
}

/** Simulates the probes of one process, distributed over the regions in turn. */
function simulateProbes(url: string, number: number, tokens: string[]): void {
  const probes = Array.from({ length: PROBES / PROCESSES }, (_, i) => {
    const place = i % REGIONS.length
    return simulateProbe(url, `probe-${number}-${i}`, REGIONS[place]!, tokens[place]!)
  })
  process.on('message', message => {
    if (message === 'report') process.send!(probes)
    else for (const probe of probes) Object.assign(probe, { firstBatchMs: null, snapshots: 0 })
  })
}

function simulateProbe(url: string, name: string, region: string, token: string): ProbeObservation {
  const seen: ProbeObservation = {
    region,
    epoch: undefined,
    revision: 0,
    monitors: 0,
    firstBatchMs: null,
    snapshots: 0,
  }
  const assigned = new Set<string>()
  let named = new Set<string>()
  const onMessage = (body: FleetMessageBody) => {
    if (body.$case === 'epochChanged') seen.epoch = body.value.epoch
    if (body.$case !== 'assignments') return
    const { isSnapshot, isLast, upserts, removals, revision, epoch } = body.value
    seen.firstBatchMs ??= Date.now()
    for (const { monitorId } of upserts) assigned.add(monitorId)
    for (const { monitorId } of isSnapshot ? upserts : []) named.add(monitorId)
    for (const id of removals) assigned.delete(id)
    if (isSnapshot && isLast) {
      for (const id of assigned) if (!named.has(id)) assigned.delete(id)
      named = new Set()
      seen.snapshots++
    }
    if (!isSnapshot || isLast) Object.assign(seen, { revision, epoch })
    seen.monitors = assigned.size
  }
  const instanceId = machine.uuid()
  connectFleet({
    url,
    tls: null,
    credential: { secret: `prs_${machine.secret()}`, token },
    machine,
    clock: createRemoteClock(machine.monotonicMs),
    hello: () => ({
      instanceId,
      name,
      version: 'bench',
      lastRevision: seen.revision,
      lastEpoch: seen.epoch,
      capabilities: [...CHECK_TYPES],
    }),
    load: () => LOAD,
    onWelcome: () => {
      named = new Set()
    },
    onMessage,
    onClock: () => {},
    log: createLog('bench', 'silent'),
  })
  return seen
}

const LOAD = {
  running: 1,
  waiting: 0,
  loopLagMs: 1,
  spoolBytes: 0,
  droppedResults: 0,
  connectivityOk: true,
}

const [, , role, url, number, ...tokens] = process.argv
if (role === 'probes') simulateProbes(url!, Number(number), tokens)
