import { type Static, Type } from 'typebox'
import { Id, strictObject, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import type { EventName } from '../../events/catalog.ts'

/** What a channel can subscribe to: the incidents or the vendor events of a project. */
export const ALERT_TYPES = ['incident', 'dependency_incident'] as const
export type AlertType = (typeof ALERT_TYPES)[number]

/** A row of `alert_subscriptions`. */
export type StoredSubscription = {
  id: string
  projectId: string
  alertChannelId: string
  alertType: AlertType
  createdAt: Date
  updatedAt: Date
}

/** The subscriptions that an event goes to; null for events of monitors, which are matched by rules. */
export function getAlertType(name: EventName): AlertType | null {
  if (name.startsWith('incident.')) return 'incident'
  return name.startsWith('vendor.') ? 'dependency_incident' : null
}

export const SubscriptionCreate = strictObject({
  alert_channel_id: Type.String({ minLength: 1 }),
  alert_type: stringEnum(ALERT_TYPES),
})
export type SubscriptionCreate = Static<typeof SubscriptionCreate>

export const SubscriptionRecord = Type.Object(
  {
    id: Id,
    alert_channel_id: Id,
    alert_type: stringEnum(ALERT_TYPES),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ChannelSubscription' },
)

export function toSubscriptionResponse({ id, alertChannelId, alertType, createdAt, updatedAt }: StoredSubscription) {
  return {
    id,
    alert_channel_id: alertChannelId,
    alert_type: alertType,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  }
}
