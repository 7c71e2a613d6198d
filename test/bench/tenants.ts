/**
 * Two tenants in one control plane process with all roles. One imports 1,000 monitors repeatedly, with 25 imports in flight.
 * Measures the time to the notification of outages, and the time of GETs, of the other.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImports } from '../support/import-load.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
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
} from './rig.ts'

const OUTAGES = 60
const GETS_EVERY_MS = 20

export async function benchTenants(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const receiver = await startReceiver(t)
  const channel = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
  await picket.api.post('/alerts/channels', channel)
  const nats = await connectBench(t, picket)
  const ids = await createMonitors(picket.api, 2 * OUTAGES, { retry_count: 0 })
  const send = (monitorId: string, up: boolean) =>
    publishAll(
      nats,
      REGIONS.flatMap(region => encodeBatches([{ monitorId, scheduledAtMs: Date.now(), up }], region, 1)),
    )
  for (const id of ids) await send(id, true)

  async function measure(failing: string[]) {
    const gets: number[] = []
    let isOver = false
    const reading = (async () => {
      while (!isOver) {
        const asked = performance.now()
        const { status } = await picket.api.get('/monitors')
        if (status !== 200) throw new Error(`GET /monitors answered ${status}`)
        gets.push(performance.now() - asked)
        await pause(GETS_EVERY_MS)
      }
    })()
    const alerts: number[] = []
    for (const id of failing) {
      const failedMs = Date.now()
      await send(id, false)
      const one = await waitFor(() => receiver.received.find(({ json }) => json.data.monitor.id === id), {
        ...{ everyMs: 2, timeoutMs: 120_000, label: 'the webhook' },
      })
      alerts.push(one.atMs - failedMs)
      await pause(200)
    }
    isOver = true
    await reading
    return { gets, alerts }
  }

  const alone = await measure(ids.slice(0, OUTAGES))
  const key = await withPostgres(picket.databaseUrl, async db => {
    const tenant = await insertTenant(db, 'business')
    return (await createApiKey(db, tenant, { name: 'bench', scope: 'admin' })).key
  })
  const imports = startImports(t, { origin: picket.origin, key }, { atOnce: 25, monitors: 1_000 })
  await waitFor(() => imports.answers[200], { timeoutMs: 120_000, label: 'the first import' })
  const startedMs = Date.now()
  const before = imports.answers[200]!
  const loaded = await measure(ids.slice(OUTAGES))
  const perMinute = ((imports.answers[200]! - before) * 60_000) / (Date.now() - startedMs)
  await imports.stop()

  const text = (values: number[]) => `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.99).toFixed(0)}`
  const slowest = Math.max(...loaded.alerts)
  return [
    figure(
      `failed result → webhook while another tenant has 25 imports of 1,000 monitors in flight (${perMinute.toFixed(0)} done a minute; p50 / p99 of ${OUTAGES})`,
      `${text(loaded.alerts)} ms; alone ${text(alone.alerts)}`,
      '≤ 1 s',
      slowest <= 1_000,
    ),
    figure(
      `its \`GET /monitors\` (p50 / p99 of ${loaded.gets.length})`,
      `${text(loaded.gets)} ms; alone ${text(alone.gets)}`,
      'p99 ≤ 100 ms',
      percentile(loaded.gets, 0.99) <= 100,
    ),
  ]
}
