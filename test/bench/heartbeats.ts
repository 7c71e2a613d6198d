/**
 * Pings a second that one control plane acknowledges after their commit, over persistent connections: first at the maximum
 * rate, then at a steady thousand a second to measure the time to `OK`.
 */
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, percentile, treeCpuUs } from './rig.ts'

const MONITORS = 1_000
const BURST = 10_000
const CONNECTIONS = 64
const STEADY_PER_SECOND = 1_000
const STEADY_SECONDS = 10

export async function benchHeartbeats(t: Teardown, engines: Engines): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [], env: { PINGS_PER_MINUTE: '1000000' } })
  const urls: string[] = []
  while (urls.length < MONITORS) {
    const monitors = Array.from({ length: 50 }, () => ({ name: 'Job', type: 'heartbeat', heartbeat_interval: 3_600 }))
    const { body } = await picket.api.post('/monitors/bulk', { monitors })
    const paths = body.monitors.map((monitor: { ping_url: string }) => new URL(monitor.ping_url).pathname)
    urls.push(...paths.map((path: string) => `${picket.origin}${path}`))
  }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  t.teardown(() => agent.destroy())
  const send = (i: number) => pingMs(agent, urls[i % urls.length]!)
  // the first ping of a monitor causes its first verdict, so the measurement begins after it
  await inLanes(MONITORS, send)

  const spent = () => [picket.controlPlane.pid, engines.postgres].map(pid => treeCpuUs(pid))
  const before = spent()
  const started = performance.now()
  const burst = await inLanes(BURST, send)
  const rate = Math.round(BURST / ((performance.now() - started) / 1_000))
  const [own, database] = spent().map((us, i) => Math.round((us - before[i]!) / BURST))

  const steady: Promise<number>[] = []
  const beginMs = performance.now()
  while (steady.length < STEADY_PER_SECOND * STEADY_SECONDS) {
    const due = Math.floor(((performance.now() - beginMs) / 1_000) * STEADY_PER_SECOND)
    while (steady.length < due) steady.push(send(steady.length))
    await pause(1)
  }
  const times = await Promise.all(steady)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  return [
    figure(
      `pings a second acknowledged after their commit (${BURST.toLocaleString('en')} of ${MONITORS.toLocaleString('en')} heartbeats, ${CONNECTIONS} connections)`,
      `${rate.toLocaleString('en')} (p99 ${ms(percentile(burst, 0.99))})`,
      '≥ 1,000',
      rate >= 1_000,
    ),
    figure('  CPU time a ping', `control plane ${own} µs, PostgreSQL ${database} µs`),
    figure(
      `time to OK at a steady ${STEADY_PER_SECOND.toLocaleString('en')} pings a second`,
      `p50 ${ms(percentile(times, 0.5))}, p99 ${ms(percentile(times, 0.99))}`,
    ),
  ]
}

/** Returns the time of a ping, in ms. Rejects if the answer is not OK. */
function pingMs(agent: Agent, url: string): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST' }, answer => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - started)
        else reject(new Error(`a ping was answered with ${answer.statusCode}`))
      })
    })
    sent.on('error', reject).end()
  })
}

/** Calls `work` for each number below `count`, with one concurrent call for each connection. */
async function inLanes(count: number, work: (i: number) => Promise<number>): Promise<number[]> {
  const answers: number[] = []
  let next = 0
  const lane = async () => {
    while (next < count) answers.push(await work(next++))
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  return answers
}
