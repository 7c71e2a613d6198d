import { type Static, Type } from 'typebox'
import { strictObject } from '../../../foundation/web/validation/schemas.ts'

/** A row of `dependency_overrides`: what one channel hears of one vendor, in place of its subscription (decisions 10.1). */
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
    on_down: eventSwitch('vendor.down'),
    on_degraded: eventSwitch('vendor.degraded'),
    on_resolved: eventSwitch('vendor.resolved'),
  }),
  {
    maxItems: MAX_OVERRIDES,
    description:
      'what these channels hear of this dependency, whether or not they are subscribed to all; others follow their subscription',
  },
)
export type Overrides = Static<typeof Overrides>

/** As they are stored. Of a channel that is named twice the last one counts. */
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
