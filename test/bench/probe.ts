/**
 * A real probe process with many monitors, with a fleet server and NATS of the bench, and a target in another process.
 * Measures the start delay of checks, and their memory and CPU time. After `npm run build`:
 * `node --import tsx test/bench/probe.ts [monitors] [interval_s] [seconds] [share of black-holed targets]`
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Outcome } from '../../proto/gen/probe/v1/result.ts'
import { startBlackHole } from '../support/black-hole.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import { collectResults } from '../support/result-collector.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { cpuUs, type Figure, figure, withTeardown } from './rig.ts'

type ProbeBench = {
  checks: number
  notUp: number
  startDelayMs: { p50: number; p99: number; max: number }
  rssMb: number
  cpuUsPerCheck: number
  /** of a bare `node:http` loop that requests the same target at the same rate */
  bareCpuUsPerCheck: number
}

const CHUNK = 500
const BARE_SECONDS = 30
/** Until V8 has compiled the loop, as it has the probes when they are measured. */
const BARE_WARM_MS = 60_000
const ID_BASE = '01890a5d-ac96-774b-bcce-'

/**
 * @param seconds how long results are counted, after the monitors are assigned and the warm-up
 * @param blackHoled the share of monitors whose target drops all packets; the figures are of the others
 */
async function benchProbe(monitors: number, intervalS: number, seconds: number, blackHoled = 0): Promise<ProbeBench> {
  return withTeardown(async t => {
    const nats = await startNats(t)
    const collector = await collectResults(t, nats.url)
    const target = fork(import.meta.filename, ['serve'])
    t.teardown(() => target.kill())
    const [port] = await once(target, 'message')
    const fleet = await startFleetServer(t, { natsUrl: nats.url, heartbeatIntervalMs: 3000, deadAfterMs: 10_000 })
    const probe = startProbe(t, fleet.url)
    const url = `http://127.0.0.1:${port}/`
    const spec = checkSpec(url, { timeoutMs: 10_000 })
    const dark =
      blackHoled > 0 ? checkSpec(`http://127.0.0.1:${await startBlackHole(t)}/`, { timeoutMs: 10_000 }) : spec
    const isDark = (number: number) => number % 100 < blackHoled * 100
    for (let from = 0; from < monitors; from += CHUNK) {
      const upserts = Array.from({ length: Math.min(CHUNK, monitors - from) }, (_, i) => {
        const id = `${ID_BASE}${String(from + i).padStart(12, '0')}`
        return assignment(id, isDark(from + i) ? dark : spec, { intervalS, retryCount: 2 })
      })
      await fleet.assign({ isSnapshot: true, isLast: from + CHUNK >= monitors, revision: 1, upserts })
    }
    await probe.untilEvent('connected')
    await pause(5000)

    const startMs = fleet.nowMs()
    const startCpuUs = cpuUs(probe.pid)
    await pause(seconds * 1000)
    const usedUs = cpuUs(probe.pid) - startCpuUs
    const endMs = fleet.nowMs()
    const rssMb = rss(probe.pid)
    await waitFor(async () => (await collector.results()).some(result => result.scheduledAtMs > endMs), {
      timeoutMs: 30_000,
    })

    await probe.stop()
    const results = (await collector.results()).filter(
      ({ scheduledAtMs, monitorId }) =>
        scheduledAtMs >= startMs && scheduledAtMs < endMs && !isDark(Number(monitorId.slice(ID_BASE.length))),
    )
    const delays = results.map(result => result.startedAtMs - result.scheduledAtMs).sort((a, b) => a - b)
    const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN
    return {
      checks: results.length,
      notUp: results.filter(result => result.outcome !== Outcome.UP).length,
      startDelayMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
      rssMb,
      cpuUsPerCheck: Math.round(usedUs / results.length),
      bareCpuUsPerCheck: await costAtPace(t, url, monitors / intervalS, seconds / 2),
    }
  })
}

const MONITORS = 10_000
const INTERVAL_S = 30
/** Enough checks that the cost of waking up is small in comparison. */
const BUSY_INTERVAL_S = 10

/** The figures of the probe, of a bare loop and, if it is installed, of blackbox_exporter, all at the same rate. */
export async function benchProbeFigures(): Promise<Figure[]> {
  const usual = await benchProbe(MONITORS, INTERVAL_S, 40)
  const busy = await benchProbe(MONITORS, BUSY_INTERVAL_S, 20)
  const blackboxUs = await withTeardown(t => blackboxCost(t, MONITORS / BUSY_INTERVAL_S, 20))
  const { startDelayMs: delay, rssMb } = usual
  const { cpuUsPerCheck: probeUs, bareCpuUsPerCheck: bare } = busy
  const ratio = probeUs / bare
  const pace = `${MONITORS / BUSY_INTERVAL_S} checks a second`
  return [
    figure(`probe: CPU time of an HTTP check, everything included, at ${pace}`, `${probeUs} µs`),
    figure(
      '  a bare `node:http` loop at the same pace',
      `${bare} µs; ${ratio.toFixed(2)} times it`,
      '≤ 1.8 times',
      ratio <= 1.8,
    ),
    blackboxUs === null
      ? figure('  blackbox_exporter', 'not installed')
      : figure(
          '  blackbox_exporter at the same pace',
          `${blackboxUs} µs; the probe takes ${(blackboxUs / probeUs).toFixed(1)} times less`,
          '≥ 3 times less',
          blackboxUs / probeUs >= 3,
        ),
    figure(
      '10,000 monitors at 30 s on one probe: start delay p50 / p99 / max',
      `${delay.p50} / ${delay.p99} / ${delay.max} ms (${usual.notUp} of ${usual.checks} not up)`,
      'p99 ≤ 50 ms',
      delay.p99 <= 50,
    ),
    figure('  memory of that probe', `${rssMb} MB`, '≤ 200 MB', rssMb <= 200),
  ]
}

/** Targets that do not answer must not delay the checks of others. */
export async function benchBlackHoles(): Promise<Figure[]> {
  const { startDelayMs: delay, checks, notUp } = await benchProbe(MONITORS, INTERVAL_S, 40, 0.3)
  return [
    figure(
      '10,000 monitors at 30 s, 30 % of the targets black-holed: start delay of the others, p50 / p99 / max',
      `${delay.p50} / ${delay.p99} / ${delay.max} ms (${notUp} of ${checks} not up)`,
      'p99 ≤ 50 ms',
      delay.p99 <= 50,
    ),
  ]
}

function rss(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}

/**
 * A bare `node:http` loop that requests `url`, of a target in another process, `perSecond` times a second: what this machine
 * needs now for the same work at the same pace, because a process that is woken rarely takes more for each request.
 */
export async function measureBareLoop(url: string, perSecond: number) {
  const us = await withTeardown(t => costAtPace(t, url, perSecond, BARE_SECONDS, { warmMs: BARE_WARM_MS }))
  /** `totalUs`: CPU time a check over all processes */
  return (totalUs: number): Figure =>
    figure(
      `  a bare \`node:http\` loop before it at the pace of one probe, ${Math.round(perSecond)} requests a second`,
      `${us} µs; a check takes ${(totalUs / us).toFixed(2)} times it`,
    )
}

/** CPU time per request of the process `pid` (default: the loop's process), while a loop in its own process requests `url`. */
async function costAtPace(
  t: Teardown,
  url: string,
  perSecond: number,
  seconds: number,
  { pid, warmMs = 2_000 }: { pid?: number; warmMs?: number } = {},
): Promise<number> {
  const loop = fork(import.meta.filename, ['bare', url, String(perSecond)])
  t.teardown(() => loop.kill())
  const watched = pid ?? loop.pid!
  await once(loop, 'message')
  await pause(warmMs)
  const startUs = cpuUs(watched)
  loop.send('count')
  await pause(seconds * 1000)
  loop.send('count')
  const [requests] = await once(loop, 'message')
  return Math.round((cpuUs(watched) - startUs) / requests)
}

/** Null if blackbox_exporter is not installed. It is requested over HTTP, as Prometheus does; only its own time counts. */
async function blackboxCost(t: Teardown, perSecond: number, seconds: number): Promise<number | null> {
  const target = fork(import.meta.filename, ['serve'])
  t.teardown(() => target.kill())
  const [port] = await once(target, 'message')
  const own = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'picket-blackbox-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const config = join(dir, 'blackbox.yml')
  writeFileSync(config, 'modules:\n  http_2xx:\n    prober: http\n')
  const exporter = spawn(
    'prometheus-blackbox-exporter',
    [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${own}`],
    {
      stdio: 'ignore',
    },
  )
  const isThere = await new Promise<boolean>(resolve =>
    exporter.once('spawn', () => resolve(true)).once('error', () => resolve(false)),
  )
  if (!isThere) return null
  t.teardown(() => exporter.kill())
  const url = `http://127.0.0.1:${own}/probe?module=http_2xx&target=${encodeURIComponent(`http://127.0.0.1:${port}/`)}`
  await waitFor(async () => (await (await fetch(url)).text()).includes('probe_success 1'), {
    label: 'blackbox_exporter',
  })
  return costAtPace(t, url, perSecond, seconds, { pid: exporter.pid! })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

function requestAtRate(url: string, perSecond: number): void {
  let requests = 0
  let counted: number | null = null
  const ask = () => {
    requests++
    get(url, { agent: false }, response => response.resume())
  }
  const startMs = performance.now()
  const pump = () => {
    const due = ((performance.now() - startMs) * perSecond) / 1000
    for (let asked = requests; asked < due; asked++) ask()
    setTimeout(pump, Math.max(1, ((requests + 1 - due) * 1000) / perSecond))
  }
  process.on('message', () => {
    if (counted === null) counted = requests
    else process.send!(requests - counted)
  })
  process.send!('ready')
  pump()
}

function serve(): void {
  const server = createServer((_request, response) => response.end('ok'))
  server.listen(0, '127.0.0.1', 4096, () => process.send!((server.address() as AddressInfo).port))
}

if (process.argv[2] === 'serve') serve()
else if (process.argv[2] === 'bare') requestAtRate(process.argv[3]!, Number(process.argv[4]))
else if (import.meta.filename === process.argv[1]) {
  const [monitors = 10_000, intervalS = 30, seconds = 40, blackHoled = 0] = process.argv.slice(2).map(Number)
  console.log(await benchProbe(monitors, intervalS, seconds, blackHoled))
}
