import type { Teardown } from '../support/teardown.ts'
import { type ChaosCustomers, startCustomers } from './customers.ts'
import { type Ledger, startLedger } from './ledger.ts'
import type { ChaosScale } from './plan.ts'
import { type ChaosReceiver, startChaosReceiver } from './receiver.ts'
import { waitForStatuses } from './settle.ts'
import type { System } from './system.ts'

/** A running system with its monitors, one webhook that receives all notifications, and customers who write continuously. */
export type ChaosContext = {
  scale: ChaosScale
  system: System
  ledger: Ledger
  webhook: ChaosReceiver
  customers: ChaosCustomers
  /** in the order of the targets */
  monitorIds: string[]
}

/** Creates the monitors and starts the customers. Resolves when every monitor is up. */
export async function prepareContext(
  t: Teardown,
  seed: number,
  scale: ChaosScale,
  system: System,
): Promise<ChaosContext> {
  const { api } = system
  const ledger = startLedger(t, system.nats)
  const webhook = await startChaosReceiver(t, seed)
  const body = { name: 'Ops', type: 'webhook', config: { url: webhook.receiver.url }, is_default: true }
  const channel = await api.post('/alerts/channels', body)
  await api.post('/alerts/project-channels', { alert_channel_id: channel.body.data.id, alert_type: 'incident' })
  const made = await api.post('/monitors/bulk', { monitors: buildMonitors(scale, system) })
  const monitorIds: string[] = made.body.monitors.map((monitor: { id: string }) => monitor.id)
  const customers = startCustomers(t, api, { affectedId: monitorIds[0]!, askedIds: scale.isShort ? monitorIds : [] })
  await waitForStatuses(system, monitorIds, 'up')
  return { scale, system, ledger, webhook, customers, monitorIds }
}

const buildMonitors = ({ monitors, regions, isShort }: ChaosScale, { targets }: System) =>
  Array.from({ length: monitors }, (_, i) => ({
    name: `Shop ${i}`,
    type: 'http',
    url: targets.getUrl(i),
    interval_seconds: 30,
    // a short run shares its machine with other tests, and its outages last until they are reported
    timeout_ms: isShort ? 15_000 : 5_000,
    retry_count: i % (isShort ? 2 : 3),
    regions,
  }))
