import { type Static, Type } from 'typebox'
import {
  Id,
  ignoredText,
  Name,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { CHANNEL_TYPES } from '../channels/registry.ts'

const ChannelType = stringEnum(CHANNEL_TYPES)
const ChannelConfig = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 50,
  description:
    'Fields by type. `webhook`: `url`, optional `headers`, optional `relay_source_id`. `email`: `to` (1 to 20 addresses). `chat_a`, `chat_b`, `chat_c`: `webhook_url`. `chat_a` with the installed app: `installation_id` and `channel_id`.',
})
const RecordId = Type.String({ minLength: 1 })

export const ChannelCreate = strictObject(
  {
    name: Name,
    type: ChannelType,
    config: ChannelConfig,
    is_default: Type.Optional(Type.Boolean()),
  },
  {
    title: 'AlertChannelCreate',
    examples: [
      { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/picket' }, is_default: true },
      { name: 'On call', type: 'email', config: { to: ['oncall@example.com'] } },
      { name: 'Chat', type: 'chat_a', config: { webhook_url: 'https://chat.example.com/services/T0/B0/x' } },
    ],
  },
)
export type ChannelCreate = Static<typeof ChannelCreate>

/** `type` is accepted, but cannot be changed. */
export const ChannelUpdate = strictObject(
  {
    name: Type.Optional(Name),
    type: Type.Optional(ChannelType),
    config: Type.Optional(ChannelConfig),
    is_default: Type.Optional(Type.Boolean()),
  },
  { title: 'AlertChannelUpdate' },
)
export type ChannelUpdate = Static<typeof ChannelUpdate>

export const ChannelRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    type: ChannelType,
    config: Type.Record(Type.String(), Type.Unknown(), { description: 'Secrets are masked.' }),
    email_addresses: nullable(
      Type.Array(
        Type.Object({
          address: Type.String(),
          status: stringEnum(['confirmed', 'unconfirmed']),
          confirmation_sent_at: nullable(Timestamp),
        }),
      ),
      {
        description:
          'State of the addresses of a mail channel. Alerts go to confirmed addresses only. Null for other types.',
      },
    ),
    is_default: Type.Boolean(),
    signing_secret: nullable(
      Type.String({ description: '`whsec_…`. Shown in full only when it is created or rotated.' }),
    ),
    is_paused: Type.Boolean(),
    paused_at: nullable(Timestamp),
    paused_reason: nullable(Type.String()),
    consecutive_failures: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AlertChannel' },
)

const switches = {
  on_down: Type.Optional(Type.Boolean()),
  on_recovery: Type.Optional(Type.Boolean()),
  on_degraded: Type.Optional(Type.Boolean()),
}

/** The settings of a rule, for a write. Omitted ones get the default or keep their values. */
export const ruleSettings = {
  ...switches,
  remind_every_minutes: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 5,
        maximum: 1_440,
        description:
          'Interval of reminders while the monitor is down and the incident is not acknowledged. Null: no reminders.',
      }),
    ),
  ),
}

export const RuleCreate = strictObject(
  { monitor_id: RecordId, alert_channel_id: RecordId, ...ruleSettings },
  { title: 'AlertRuleCreate' },
)
export type RuleCreate = Static<typeof RuleCreate>

export const RuleUpdate = strictObject(
  {
    monitor_id: Type.Optional(RecordId),
    alert_channel_id: Type.Optional(RecordId),
    ...ruleSettings,
    id: ignoredText,
    created_at: ignoredText,
    updated_at: ignoredText,
  },
  { title: 'AlertRuleUpdate' },
)
export type RuleUpdate = Static<typeof RuleUpdate>

export const RuleQuery = strictObject({ ...pageProperties, monitor_id: Type.Optional(Type.String()) })

export const RuleRecord = Type.Object(
  {
    id: Id,
    monitor_id: Id,
    alert_channel_id: Id,
    on_down: Type.Boolean(),
    on_recovery: Type.Boolean(),
    on_degraded: Type.Boolean(),
    remind_every_minutes: nullable(Type.Integer()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AlertRule' },
)

const settings = {
  is_digest_enabled: Type.Boolean({ description: 'Whether chats and mail get one message about many changes.' }),
  digest_threshold: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description:
      'Number of changing monitors in a minute up to which alerts are sent one by one. With more, they are combined. Defaults to 10.',
  }),
}

const OnCall = nullable(
  Type.String({
    description: 'User id of the member who gets a direct message in the chat when an incident opens. Null: none.',
  }),
)

export const SettingsUpdate = strictObject({
  is_digest_enabled: Type.Optional(settings.is_digest_enabled),
  digest_threshold: Type.Optional(settings.digest_threshold),
  on_call_user_id: Type.Optional(OnCall),
})
export type SettingsUpdate = Static<typeof SettingsUpdate>

export const SettingsRecord = Type.Object({
  id: Id,
  ...settings,
  on_call_user_id: OnCall,
  created_at: Timestamp,
  updated_at: Timestamp,
})
