/**
 * The time from the deciding failed attempt to the arrival of the webhook: for a single failure among thousands of healthy
 * monitors, and for many failures together. The results of probes are published to JetStream; all other parts are real.
 */
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import {
  connectBench,
  createMonitors,
  encodeBatches,
  type Figure,
  figure,
  percentile,
  publishAll,
  REGIONS,
  type SampleResult,
} from './rig.ts'

const HEALTHY = 5_000
const SAMPLES = 300
/** The first alerts wait for the first statuses of all monitors, which are written at the same time. */
const WARM_UP = 20
const FAILING = 10_000

export async function benchAlerting(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const receiver = await startReceiver(t)
  const channel = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
  await picket.api.post('/alerts/channels', channel)
  const nats = await connectBench(t, picket)
  const ids = await createMonitors(picket.api, HEALTHY + WARM_UP + SAMPLES + 1_000 + FAILING, { retry_count: 1 })
  const healthy = ids.slice(0, HEALTHY)
  const [alone, together, hour] = [
    ids.slice(HEALTHY, -FAILING - 1_000),
    ids.slice(-FAILING - 1_000, -FAILING),
    ids.slice(-FAILING),
  ]
  const send = (shots: SampleResult[], regions = REGIONS) =>
    publishAll(
      nats,
      regions.flatMap(region => encodeBatches(shots, region, 100)),
    )
  const arrivals = () => new Map(receiver.received.map(one => [one.json.data.monitor.id as string, one.atMs]))
  const allUp = (monitors: string[]) =>
    monitors.map(monitorId => ({ monitorId, scheduledAtMs: Date.now() - 1_000, up: true }))
  const fail = (monitors: string[], attempt: number) => {
    const scheduledAtMs = Date.now()
    return send(
      monitors.map(monitorId => ({ monitorId, scheduledAtMs, attempt, up: false })),
      attempt === 1 ? REGIONS : REGIONS.slice(0, 2),
    )
  }
  await send(allUp(ids))

  let next = 0
  const background = setInterval(() => {
    // a thirtieth of the monitors each second, like their slots
    const size = Math.ceil(HEALTHY / 30)
    send(allUp(healthy.slice(next, next + size))).catch(() => {})
    next = (next + size) % HEALTHY
  }, 1_000)
  t.teardown(() => clearInterval(background))

  const decidedMs = new Map<string, number>()
  for (const id of alone) {
    await fail([id], 1)
    decidedMs.set(id, Date.now())
    await fail([id], 2)
    await waitFor(() => arrivals().has(id), { everyMs: 5, timeoutMs: 30_000, label: 'the webhook' })
  }
  const single = alone.slice(WARM_UP).map(id => arrivals().get(id)! - decidedMs.get(id)!)

  await fail(together, 1)
  const burstMs = Date.now()
  await fail(together, 2)
  await waitFor(() => together.every(id => arrivals().has(id)), { timeoutMs: 60_000, label: '1,000 webhooks' })
  const burst = Math.max(...together.map(id => arrivals().get(id)! - burstMs))

  const startedMs = Date.now()
  for (let second = 0; second < 60; second++) {
    await waitFor(() => Date.now() >= startedMs + second * 1_000, { everyMs: 5, timeoutMs: 60_000 })
    const part = hour.slice((second * FAILING) / 60, ((second + 1) * FAILING) / 60)
    await fail(part, 1)
    for (const id of part) decidedMs.set(id, Date.now())
    await fail(part, 2)
  }
  await waitFor(() => receiver.received.length >= FAILING + 1_000 + WARM_UP + SAMPLES, {
    timeoutMs: 120_000,
    label: '10,000 webhooks',
  })
  const seen = arrivals()
  const minute = Math.max(...hour.map(id => seen.get(id)! - decidedMs.get(id)!))
  const p99 = percentile(single, 0.99)
  return [
    figure(
      `deciding attempt → webhook, ${HEALTHY.toLocaleString('en')} monitors running (p50 / p99 of ${SAMPLES} after the first ${WARM_UP})`,
      `${percentile(single, 0.5)} / ${p99} ms`,
      'p99 ≤ 150 ms',
      p99 <= 150,
    ),
    figure(
      '1,000 monitors fail in the same second: the last webhook',
      `${(burst / 1_000).toFixed(1)} s`,
      '≤ 5 s',
      burst <= 5_000,
    ),
    figure(
      '10,000 monitors fail in one minute: the latest webhook',
      `${(minute / 1_000).toFixed(1)} s`,
      '≤ 20 s',
      minute <= 20_000,
    ),
  ]
}
