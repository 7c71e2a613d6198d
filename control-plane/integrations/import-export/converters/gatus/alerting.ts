import type { ChannelEntry, RuleEntry } from '../../file/project-file.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  isRecord,
  isSet,
  listRecords,
  REMINDER_BOUNDS,
  toName,
  toText,
  type WarnAt,
} from '../foreign-file.ts'
import { parseDurationMs } from './duration.ts'
import { hasVariable, VARIABLE_WARNING } from './template-values.ts'

type ChannelTarget = Pick<ChannelEntry, 'type' | 'config'>

/** Where each provider keeps what ours needs. Null: it is not there. */
const PROVIDERS: Record<string, (config: ForeignRecord) => ChannelTarget | null> = {
  slack: config => chat('chat_a', config),
  discord: config => chat('chat_b', config),
  teams: config => chat('chat_c', config),
  'teams-workflows': config => chat('chat_c', config),
  mattermost: config => chat('chat_a', config),
  email(config) {
    const to = (toText(config.to) ?? '').split(',').flatMap(address => address.trim() || [])
    return to.length === 0 ? null : { type: 'email', config: { to: [...new Set(to)].slice(0, 20) } }
  },
  custom(config) {
    const url = toText(config.url)
    const headers = isRecord(config.headers) ? { headers: config.headers } : {}
    return url === null ? null : { type: 'webhook', config: { url, ...headers } }
  },
}

const NOTES: Record<string, string> = {
  email: 'mail goes out by the server of Picket, not by the one that is set there',
  custom: 'the webhook gets the events of Picket; the body and the method that are written there were not carried over',
}

function chat(type: ChannelEntry['type'], config: ForeignRecord): ChannelTarget | null {
  const url = toText(config['webhook-url'])
  return url === null ? null : { type, config: { webhook_url: url } }
}

/** What is read of a provider, and what its note is about. */
const KNOWN: Record<string, RegExp> = {
  email: /^(default-alert|overrides|to|from|username|password|host|port)$/,
  custom: /^(default-alert|overrides|url|headers|body|method|placeholders)$/,
}
const KNOWN_OF_CHAT = /^(default-alert|overrides|webhook-url)$/

/** The providers as channels; one more a group that has a config of its own. */
export type Alerting = {
  channels: ChannelEntry[]
  /** an endpoint's alert with what its provider says of all */
  withDefaults(alert: ForeignRecord): ForeignRecord
  /** what a whole alert becomes; null where its provider was left out */
  toRule(whole: ForeignRecord, group: string | null, tell: (message: string) => void): RuleEntry | null
}

/** Failures in a row until it is told, by Gatus' default 3. */
export const getThreshold = (whole: ForeignRecord): number => Number(whole['failure-threshold']) || 3

/** Parts of an alert that have no counterpart. */
export function warnAboutAlert(alert: ForeignRecord, tell: (message: string) => void): void {
  const lost = ['provider-override', 'description', 'success-threshold'].filter(key => isSet(alert[key]))
  if (lost.length > 0) tell(`its ${lost.join(', ')} was not carried over`)
}

export function parseAlerting(source: unknown, warn: WarnAt): Alerting {
  const providers = isRecord(source) ? source : {}
  const channels = Object.entries(providers).flatMap(([kind, config]) => toChannels(kind, config, warn))
  const known = new Set(channels.map(({ name }) => name))
  return {
    channels,
    withDefaults(alert) {
      const provider = providers[String(alert.type)]
      const defaults = isRecord(provider) && isRecord(provider['default-alert']) ? provider['default-alert'] : {}
      return { ...defaults, ...alert }
    },
    toRule(whole, group, tell) {
      const kind = String(whole.type)
      const names = [channelName(kind, group), channelName(kind, null)]
      const channel = names.find(name => known.has(name))
      if (channel === undefined) return null
      return { channel, on_down: true, on_recovery: whole['send-on-resolved'] === true, ...toReminder(whole, tell) }
    },
  }
}

const channelName = (kind: string, group: string | null) => toName(group === null ? kind : `${kind} (${group})`, kind)

function toReminder(alert: ForeignRecord, tell: (message: string) => void): Partial<RuleEntry> {
  const minutes = (parseDurationMs(alert['minimum-reminder-interval']) ?? 0) / 60_000
  if (minutes === 0) return {}
  const say = (moved: number) => tell(`while it is down it was told every ${minutes} min, and is every ${moved} min`)
  return { remind_every_minutes: clampWithWarning(minutes, REMINDER_BOUNDS, say) }
}

function toChannels(kind: string, config: unknown, warn: WarnAt): ChannelEntry[] {
  const path = `alerting.${kind}`
  if (!isRecord(config) || !Object.hasOwn(PROVIDERS, kind)) {
    warn(path, `Picket has no channel of the kind ${kind}; it was left out`)
    return []
  }
  if (NOTES[kind] !== undefined) warn(path, NOTES[kind])
  warnAboutProvider(kind, config, path, warn)
  const made = PROVIDERS[kind]!(config)
  const own = made ? [{ name: channelName(kind, null), ...made }] : []
  if (made === null) warn(path, `${kind} says not where it goes; it was left out`)
  const overrides = listRecords(config.overrides ?? [], `${path}.overrides`, warn).flatMap(({ record, path }) => {
    const ofGroup = PROVIDERS[kind]!({ ...config, ...record })
    const group = toText(record.group)
    if (ofGroup !== null && group !== null) return [{ name: channelName(kind, group), ...ofGroup }]
    warn(path, 'this override was left out')
    return []
  })
  return [...own, ...overrides]
}

function warnAboutProvider(kind: string, config: ForeignRecord, path: string, warn: WarnAt): void {
  const known = KNOWN[kind] ?? KNOWN_OF_CHAT
  const lost = Object.keys(config).filter(key => isSet(config[key]) && !known.test(key))
  if (lost.length > 0) warn(path, `its ${lost.join(', ')} was not carried over`)
  if (hasVariable(config)) warn(path, VARIABLE_WARNING)
  const defaults = config['default-alert']
  if (isRecord(defaults)) warnAboutAlert(defaults, message => warn(`${path}.default-alert`, message))
}
