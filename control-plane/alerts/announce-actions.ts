import { enqueueDeliveries } from '../deliveries/actions.ts'
import type { NewDelivery } from '../deliveries/types.ts'
import { type EventRow, monitorOfSubject } from '../events/catalog.ts'
import { insertEvents } from '../events/store.ts'
import type { Tx } from '../platform/postgres.ts'
import { recipients } from './recipients.ts'
import { rulesOfMonitors, type StoredRule } from './store.ts'

/**
 * Writes events down and queues their deliveries to whoever hears of them (specification, "Subscription"), beside what
 * caused them, in the caller's transaction, set-based. Whoever makes an event tells it with this.
 */
export async function announce(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  await insertEvents(tx, events)
  const monitorIds = new Set(events.flatMap(event => monitorOfSubject(event.subject) ?? []))
  const rules = await rulesOfMonitors(tx, [...monitorIds])
  const rulesByMonitor = new Map<string, StoredRule[]>()
  for (const rule of rules) rulesByMonitor.set(rule.monitorId, [...(rulesByMonitor.get(rule.monitorId) ?? []), rule])
  const deliveries = events.flatMap(event => {
    const heardBy = recipients(event, rulesByMonitor.get(monitorOfSubject(event.subject) ?? '') ?? [])
    return heardBy.map(channelId => toDelivery(event, channelId))
  })
  await enqueueDeliveries(tx, deliveries, now)
}

function toDelivery(event: EventRow, channelId: string): NewDelivery {
  const { projectId, id, name, subject } = event
  return { projectId, channelId, eventId: id, eventName: name, subject }
}
