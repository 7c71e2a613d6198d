import type { Teardown } from '../support/teardown.ts'
import { type Customers, startCustomers } from './customers.ts'
import { type Hook, startHook } from './deliveries.ts'
import { keepLedger, type Ledger } from './ledger.ts'
import type { Scale } from './plan.ts'
import { untilStatuses } from './settle.ts'
import type { System } from './system.ts'

/** A system with what customers have made of it: monitors, a webhook for everything, and writes that go on. */
export type Scene = {
  scale: Scale
  system: System
  ledger: Ledger
  hook: Hook
  customers: Customers
  /** in the order of the targets */
  monitorIds: string[]
}

/** Resolves when every monitor is up. */
export async function setScene(t: Teardown, seed: number, scale: Scale, system: System): Promise<Scene> {
  const { api } = system
  const ledger = keepLedger(t, system.nats)
  const hook = await startHook(t, seed)
  const body = { name: 'Ops', type: 'webhook', config: { url: hook.receiver.url }, is_default: true }
  const channel = await api.post('/alerts/channels', body)
  await api.post('/alerts/project-channels', { alert_channel_id: channel.body.data.id, alert_type: 'incident' })
  const made = await api.post('/monitors/bulk', { monitors: monitorsOf(scale, system) })
  const monitorIds: string[] = made.body.monitors.map((monitor: { id: string }) => monitor.id)
  const customers = startCustomers(t, api, { affectedId: monitorIds[0]!, askedIds: scale.isShort ? monitorIds : [] })
  await untilStatuses(system, monitorIds, 'up')
  return { scale, system, ledger, hook, customers, monitorIds }
}

const monitorsOf = ({ monitors, regions, isShort }: Scale, { targets }: System) =>
  Array.from({ length: monitors }, (_, i) => ({
    name: `Shop ${i}`,
    type: 'http',
    url: targets.urlOf(i),
    interval_seconds: 30,
    // a short run is one of many tests on a busy machine, and its outages last until they are reported
    timeout_ms: isShort ? 15_000 : 5_000,
    retry_count: i % (isShort ? 2 : 3),
    regions,
  }))
