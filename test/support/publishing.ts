import { v7 as uuidv7 } from 'uuid'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import type { ChannelType } from '../../control-plane/alerting/channels/registry.ts'
import type { EventRow, MonitorEventData } from '../../control-plane/alerting/events/catalog.ts'
import { runFanOutTurn } from '../../control-plane/alerting/routing/publishing/fan-out-actions.ts'
import { listWaitingProjects } from '../../control-plane/alerting/routing/publishing/fan-out-store.ts'
import { publishEvents } from '../../control-plane/alerting/routing/publishing/publish-actions.ts'
import type { SecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  openAutomaticIncidents,
  resolveAutomaticIncidents,
} from '../../control-plane/verdict/incidents/automatic-actions.ts'
import type { Tenant } from './tenant.ts'

export type Change = { monitorId: string; status: 'up' | 'down' | 'degraded'; incident?: MonitorEventData['incident'] }

/** The event of a monitor's change, as the verdict creates it. */
export function changeEvent(
  { projectId }: Tenant,
  { monitorId, status, incident = null }: Change,
  now: Date,
): EventRow {
  return {
    id: uuidv7(),
    projectId,
    name: `monitor.${status}`,
    subject: `monitor:${monitorId}`,
    occurredAt: now,
    data: {
      monitor: { id: monitorId, name: 'Shop', url: 'https://shop.example', type: 'http', status },
      check: { region: 'us-east', regions: ['us-east'], status_code: 500, response_time_ms: 12, error: 'status 500' },
      ssl_expiry_days: null,
      domain_expiry_days: null,
      down_duration: status === 'up' ? '4 minutes' : null,
      incident,
      dashboard_url: `http://picket.test/monitors/${monitorId}`,
    },
  }
}

/** Creates all deliveries that wait for the fan-out, as its worker does. */
export async function runFanOut(db: Db, now: Date): Promise<void> {
  for (let line = await listWaitingProjects(db); line.length > 0; line = await listWaitingProjects(db)) {
    for (const projectId of line) await runFanOutTurn(db, projectId, now)
  }
}

/** Publishes changes in one transaction that locks their monitors, as the verdict does, and creates all their deliveries. */
export async function publishChanges(db: Db, tenant: Tenant, changes: Change[], now: Date): Promise<void> {
  await publishWithoutFanOut(db, tenant, changes, now)
  await runFanOut(db, now)
}

/** Publishes changes without the fan-out. */
export async function publishWithoutFanOut(db: Db, tenant: Tenant, changes: Change[], now: Date): Promise<void> {
  await db.transaction(async tx => {
    const ids = changes.map(change => change.monitorId)
    await query(tx, 'SELECT FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE', [ids])
    const events = changes.map(change => changeEvent(tenant, change, now))
    await publishEvents(tx, events, now)
  })
}

/** Like tellChanges, with the incidents of the verdict: first the change of a monitor, then that of its incident. */
export async function publishOutages(db: Db, tenant: Tenant, changes: Change[], now: Date): Promise<void> {
  await db.transaction(async tx => {
    const ids = changes.map(change => change.monitorId)
    await query(tx, 'SELECT FROM monitors WHERE id = ANY (?::uuid[]) ORDER BY id FOR UPDATE', [ids])
    await execute(
      tx,
      `UPDATE monitors SET status = row.status FROM unnest(?::uuid[], ?::text[]) AS row (id, status)
       WHERE monitors.id = row.id`,
      [ids, changes.map(change => change.status)],
    )
    const { projectId } = tenant
    const outages = changes
      .filter(({ status }) => status === 'down')
      .map(({ monitorId }) => ({ projectId, monitorId, monitorName: 'Shop', startedAt: now }))
    const ends = changes
      .filter(({ status }) => status === 'up')
      .map(({ monitorId }) => ({ monitorId, at: now, message: 'Shop is up again.' }))
    const opened = await openAutomaticIncidents(tx, outages, 'http://picket.test', now)
    const resolved = await resolveAutomaticIncidents(tx, ends, 'http://picket.test', now)
    const own = changes.map(change => changeEvent(tenant, change, now))
    await publishEvents(tx, [...own, ...opened.events, ...resolved.events], now)
  })
  await runFanOut(db, now)
}

/** Subscribes a channel to the project's incidents. */
export async function subscribe(db: Db, { projectId }: Tenant, channelId: string): Promise<void> {
  await execute(
    db,
    `INSERT INTO alert_subscriptions (id, project_id, alert_channel_id, alert_type, created_at, updated_at)
     VALUES (:id, :projectId, :channelId, 'incident', now(), now())`,
    { id: uuidv7(), projectId, channelId },
  )
}

/** Creates a channel with rules for every change of these monitors. Without secrets nothing can be sent to it. */
export async function insertSubscribedChannel(
  db: Db,
  { projectId }: Tenant,
  monitorIds: string[],
  type: ChannelType,
  content: { config: object; secrets: SecretCipher } | null = null,
): Promise<string> {
  const channel = { id: uuidv7(), projectId }
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     VALUES (:id, :projectId, 'Team', :type, :config, false, now(), now())`,
    { ...channel, type, config: content ? encryptConfig(content.config, channel, content.secrets) : Buffer.alloc(0) },
  )
  await execute(
    db,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded,
       created_at, updated_at)
     SELECT gen_random_uuid(), :projectId, monitor_id, :id, true, true, true, now(), now()
     FROM unnest(:monitorIds::uuid[]) AS row (monitor_id)`,
    { ...channel, monitorIds },
  )
  return channel.id
}

export type LoggedDelivery = {
  id: string
  /** the lane */
  subject: string
  /** the subject of its event */
  about: string
  event: string
  status: string
  data: { changes?: { url: string; status: string }[] }
}

/** The deliveries that were queued for a channel, in order. */
export function listLoggedDeliveries(db: Db, channelId: string): Promise<LoggedDelivery[]> {
  return query(
    db,
    `SELECT d.id, d.subject, e.subject AS about, d.event_name AS event, d.status, e.data
     FROM deliveries d JOIN events e ON e.id = d.event_id
     WHERE d.channel_id = ? ORDER BY d.seq`,
    [channelId],
  )
}
