import { normalizeAddress } from '../../accounts/email/confirmation/address.ts'
import type { AddressState } from '../../accounts/email/confirmation/store.ts'
import { MASK } from '../../foundation/web/masked-secrets/header-map.ts'
import { getChannelKind } from '../channels/registry.ts'
import type { StoredChannel } from './alert-channels/store.ts'
import type { StoredRule } from './rules/rule-store.ts'

/**
 * API response of a channel. `isHidden`: the caller may not see the whole address. `addresses` null: all of its mail
 * addresses count as confirmed.
 */
export function toChannelResponse(
  channel: StoredChannel,
  config: Record<string, unknown>,
  addresses: Map<string, AddressState> | null,
  isHidden: boolean,
) {
  const { mask, maskForReadOnly = mask, getRecipients } = getChannelKind(channel.type)
  return {
    id: channel.id,
    name: channel.name,
    type: channel.type,
    config: (isHidden ? maskForReadOnly : mask)(config),
    email_addresses: getRecipients ? toAddressResponses(getRecipients(config), addresses) : null,
    is_default: channel.isDefault,
    signing_secret: channel.signingSecret && MASK,
    is_paused: channel.isPaused,
    paused_at: channel.pausedAt?.toISOString() ?? null,
    paused_reason: channel.pausedReason,
    consecutive_failures: channel.consecutiveFailures,
    created_at: channel.createdAt.toISOString(),
    updated_at: channel.updatedAt.toISOString(),
  }
}

/** `known` null: all of them count as confirmed. */
const toAddressResponses = (addresses: string[], known: Map<string, AddressState> | null) =>
  addresses.map(normalizeAddress).map(address => ({
    address,
    status: known === null || known.get(address)?.isConfirmed ? ('confirmed' as const) : ('unconfirmed' as const),
    confirmation_sent_at: known?.get(address)?.askedAt?.toISOString() ?? null,
  }))

export function toRuleResponse(rule: StoredRule) {
  return {
    id: rule.id,
    monitor_id: rule.monitorId,
    alert_channel_id: rule.alertChannelId,
    on_down: rule.onDown,
    on_recovery: rule.onRecovery,
    on_degraded: rule.onDegraded,
    remind_every_minutes: rule.remindEveryMinutes,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  }
}
