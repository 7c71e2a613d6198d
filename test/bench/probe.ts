/**
 * A real probe process with many monitors, a fleet server and NATS of the bench's own, and a target in another process:
 * how late checks start, and the memory and CPU time they take. After `npm run build`:
 * `node --import tsx test/bench/probe.ts [monitors] [interval_s] [seconds]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Outcome } from '../../proto/gen/probe/v1/result.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import { collectResults } from '../support/result-collector.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

export type ProbeBench = {
  checks: number
  notUp: number
  startDelayMs: { p50: number; p99: number; max: number }
  rssMb: number
  cpuUsPerCheck: number
  /** of a bare `node:http` loop that asks the same target at the same pace */
  bareCpuUsPerCheck: number
}

const CHUNK = 500
const CLOCK_TICK_US = 10_000

/** @param seconds how long results are counted, after the monitors are assigned and everything is warm */
export async function benchProbe(monitors: number, intervalS: number, seconds: number): Promise<ProbeBench> {
  const undo: (() => unknown)[] = []
  const t = { teardown: (work: () => unknown) => void undo.unshift(work) }
  try {
    const nats = await startNats(t)
    const collector = await collectResults(t, nats.url)
    const target = fork(import.meta.filename, ['serve'])
    t.teardown(() => target.kill())
    const [port] = await once(target, 'message')
    const fleet = await startFleetServer(t, { natsUrl: nats.url, heartbeatIntervalMs: 3000, deadAfterMs: 10_000 })
    const probe = startProbe(t, fleet.url)
    const url = `http://127.0.0.1:${port}/`
    const spec = checkSpec(url, { timeoutMs: 10_000 })
    for (let from = 0; from < monitors; from += CHUNK) {
      const upserts = Array.from({ length: Math.min(CHUNK, monitors - from) }, (_, i) => {
        const id = `01890a5d-ac96-774b-bcce-${String(from + i).padStart(12, '0')}`
        return assignment(id, spec, { intervalS, retryCount: 2 })
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
      ({ scheduledAtMs }) => scheduledAtMs >= startMs && scheduledAtMs < endMs,
    )
    const delays = results.map(result => result.startedAtMs - result.scheduledAtMs).sort((a, b) => a - b)
    const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? Number.NaN
    return {
      checks: results.length,
      notUp: results.filter(result => result.outcome !== Outcome.UP).length,
      startDelayMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
      rssMb,
      cpuUsPerCheck: Math.round(usedUs / results.length),
      bareCpuUsPerCheck: await bareCost(t, url, monitors / intervalS, seconds / 2),
    }
  } finally {
    for (const work of undo) await work()
  }
}

/** User and system time of a process, in µs. */
function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US
}

function rss(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}

/** A process of its own, so that only the loop's CPU time counts. */
async function bareCost(t: Teardown, url: string, perSecond: number, seconds: number): Promise<number> {
  const loop = fork(import.meta.filename, ['bare', url, String(perSecond)])
  t.teardown(() => loop.kill())
  await once(loop, 'message')
  await pause(2000)
  const startUs = cpuUs(loop.pid!)
  loop.send('count')
  await pause(seconds * 1000)
  loop.send('count')
  const [requests] = await once(loop, 'message')
  return Math.round((cpuUs(loop.pid!) - startUs) / requests)
}

function askAtPace(url: string, perSecond: number): void {
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
else if (process.argv[2] === 'bare') askAtPace(process.argv[3]!, Number(process.argv[4]))
else if (import.meta.filename === process.argv[1]) {
  const [monitors = 10_000, intervalS = 30, seconds = 40] = process.argv.slice(2).map(Number)
  console.log(await benchProbe(monitors, intervalS, seconds))
}
