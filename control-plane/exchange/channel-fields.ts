import type { StoredChannel } from '../alerts/channel-store.ts'
import { ChannelCreate, RuleUpdate } from '../alerts/schema.ts'
import type { StoredRule } from '../alerts/store.ts'
import { type ChannelType, kindOf } from '../channels/index.ts'
import { openConfig } from '../channels/sealed.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { ChannelEntry, RuleEntry } from './document.ts'
import { type Fields, pick, snakeKeys } from './fields.ts'

export const CHANNEL_DEFAULTS: Fields = { is_default: false }
/** Of a rule that is made anew. */
export const RULE_DEFAULTS: Fields = {
  on_down: true,
  on_recovery: true,
  on_degraded: false,
  remind_every_minutes: null,
}

const { monitor_id, alert_channel_id, ...switches } = RuleUpdate.properties

export const channelBodyOf = (entry: ChannelEntry) => pick(entry, ChannelCreate.properties) as ChannelCreate

/** `config`: in plain text. */
export const channelFields = ({ name, type, config, is_default }: ChannelCreate): Fields => ({
  ...{ name, type, config },
  is_default: is_default ?? false,
})

export const storedChannelFields = (channel: StoredChannel, secrets: Secrets): Fields =>
  channelFields({ ...channel, config: openConfig(channel, secrets), is_default: channel.isDefault })

/** Without secrets; `isHidden`: for a caller who may not know where it leads. */
export function showChannel(fields: Fields, isHidden = false): Fields {
  const { mask, hide = mask } = kindOf(fields.type as ChannelType)
  return { ...fields, config: (isHidden ? hide : mask)(fields.config as Record<string, unknown>) }
}

export const ruleFields = (rule: StoredRule): Fields => pick(snakeKeys(rule), switches)

export const ruleFieldsOf = (entry: RuleEntry): Fields => ({ ...RULE_DEFAULTS, ...pick(entry, switches) })
