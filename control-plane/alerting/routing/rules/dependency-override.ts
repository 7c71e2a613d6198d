import { type Static, Type } from 'typebox'
import { strictObject } from '../../../foundation/web/validation/schemas.ts'

/** A row of `dependency_overrides`: which events of one dependency a channel receives, in place of its subscription (docs/design/alerting.md#subscriptions). */
export type StoredOverride = {
  dependencyId: string
  alertChannelId: string
  onDown: boolean
  onDegraded: boolean
  onResolved: boolean
}

export const MAX_OVERRIDES = 20
const eventSwitch = (description: string) => Type.Optional(Type.Boolean({ default: true, description }))

export const Overrides = Type.Array(
  strictObject({
    alert_channel_id: Type.String({ minLength: 1 }),
    on_down: eventSwitch('Send `vendor.down`.'),
    on_degraded: eventSwitch('Send `vendor.degraded`.'),
    on_resolved: eventSwitch('Send `vendor.resolved`.'),
  }),
  {
    maxItems: MAX_OVERRIDES,
    description:
      'Which events of this dependency these channels receive, whether or not they are subscribed to dependencies. Other channels follow their subscription.',
  },
)
export type Overrides = Static<typeof Overrides>

/** Overrides as they are stored. If a channel is listed twice, the last entry counts. */
export function toStoredOverrides(dependencyId: string, overrides: Overrides): StoredOverride[] {
  const rows = overrides.map(({ alert_channel_id, on_down = true, on_degraded = true, on_resolved = true }) => ({
    dependencyId,
    alertChannelId: alert_channel_id.toLowerCase(),
    onDown: on_down,
    onDegraded: on_degraded,
    onResolved: on_resolved,
  }))
  return [...new Map(rows.map(row => [row.alertChannelId, row])).values()]
}

export const toOverrideResponse = ({ alertChannelId, onDown, onDegraded, onResolved }: StoredOverride) => ({
  alert_channel_id: alertChannelId,
  on_down: onDown,
  on_degraded: onDegraded,
  on_resolved: onResolved,
})
