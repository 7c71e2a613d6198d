import { kindOf } from '../channels/index.ts'
import { openConfig } from '../channels/sealed.ts'
import type { Secrets } from '../platform/secrets.ts'
import { MASK } from '../web/header-map.ts'
import type { StoredChannel } from './channel-store.ts'
import type { StoredRule } from './store.ts'

/**
 * A channel as the API answers it. `signingSecret`: the new one, which is shown in full (decisions 1.7). `isHidden`: for
 * somebody who may not know where it leads.
 */
export function presentChannel(
  channel: StoredChannel,
  secrets: Secrets,
  signingSecret: string | null = null,
  isHidden = false,
) {
  const { mask, hide = mask } = kindOf(channel.type)
  return {
    id: channel.id,
    name: channel.name,
    type: channel.type,
    config: (isHidden ? hide : mask)(openConfig(channel, secrets)),
    is_default: channel.isDefault,
    signing_secret: signingSecret ?? (channel.signingSecret && MASK),
    is_paused: channel.isPaused,
    paused_at: channel.pausedAt?.toISOString() ?? null,
    paused_reason: channel.pausedReason,
    consecutive_failures: channel.consecutiveFailures,
    created_at: channel.createdAt.toISOString(),
    updated_at: channel.updatedAt.toISOString(),
  }
}

export function presentRule(rule: StoredRule) {
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
