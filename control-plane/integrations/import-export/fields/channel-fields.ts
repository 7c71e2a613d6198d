import { decryptConfig } from '../../../alerting/channels/config/encrypted-config.ts'
import { type ChannelType, getChannelKind } from '../../../alerting/channels/registry.ts'
import type { StoredChannel } from '../../../alerting/routing/alert-channels/store.ts'
import type { StoredRule } from '../../../alerting/routing/rules/rule-store.ts'
import { ChannelCreate, ruleSettings } from '../../../alerting/routing/schemas.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { ChannelEntry, RuleEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

export const CHANNEL_DEFAULTS: RecordFields = { is_default: false }
/** Defaults of a new rule. */
export const RULE_DEFAULTS: RecordFields = {
  on_down: true,
  on_recovery: true,
  on_degraded: false,
  remind_every_minutes: null,
}

export const toChannelBody = (entry: ChannelEntry) => pick(entry, ChannelCreate.properties) as ChannelCreate

/** `config` is in plain text. */
export const toChannelFields = ({ name, type, config, is_default }: ChannelCreate): RecordFields => ({
  ...{ name, type, config },
  is_default: is_default ?? false,
})

export const toStoredChannelFields = (channel: StoredChannel, secrets: SecretCipher): RecordFields =>
  toChannelFields({ ...channel, config: decryptConfig(channel, secrets), is_default: channel.isDefault })

/** Masks secrets. `isHidden`: also masks addresses, for callers with read access only. */
export function maskChannelFields(fields: RecordFields, isHidden = false): RecordFields {
  const { mask, maskForReadOnly = mask } = getChannelKind(fields.type as ChannelType)
  return { ...fields, config: (isHidden ? maskForReadOnly : mask)(fields.config as Record<string, unknown>) }
}

export const toStoredRuleFields = (rule: StoredRule): RecordFields => pick(toSnakeKeys(rule), ruleSettings)

export const toRuleFields = (entry: RuleEntry): RecordFields => ({ ...RULE_DEFAULTS, ...pick(entry, ruleSettings) })
