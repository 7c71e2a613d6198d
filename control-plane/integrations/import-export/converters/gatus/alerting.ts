import type { ChannelEntry, RuleEntry } from '../../file/project-file.ts'
import { LEFT_OUT } from '../../import/import-report.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  isRecord,
  isSet,
  listRecords,
  REMINDER_BOUNDS,
  toName,
  toNumberOr,
  toRecipients,
  toText,
  type WarnAt,
} from '../foreign-file.ts'
import { toDurationMs } from './duration.ts'
import { hasVariable, VARIABLE_WARNING } from './template-values.ts'

type AddWarning = (message: string) => void
type ChannelTarget = Pick<ChannelEntry, 'type' | 'config'>

/** Converts the configuration of each provider; null when it has no target. */
const PROVIDERS: Record<string, (config: ForeignRecord, addWarning: AddWarning) => ChannelTarget | null> = {
  slack: config => chat('chat_a', config),
  discord: config => chat('chat_b', config),
  teams: config => chat('chat_c', config),
  'teams-workflows': config => chat('chat_c', config),
  mattermost: config => chat('chat_a', config),
  email(config, addWarning) {
    const to = (toText(config.to) ?? '').split(',').flatMap(address => address.trim() || [])
    return to.length === 0 ? null : { type: 'email', config: { to: toRecipients(to, addWarning) } }
  },
  custom(config) {
    const url = toText(config.url)
    const headers = isRecord(config.headers) ? { headers: config.headers } : {}
    return url === null ? null : { type: 'webhook', config: { url, ...headers } }
  },
}

const NOTES: Record<string, string> = {
  email: "mail is sent by Picket's mail server, not by the configured one",
  custom: 'the webhook gets the events of Picket; the configured body and method were not carried over',
}

function chat(type: ChannelEntry['type'], config: ForeignRecord): ChannelTarget | null {
  const url = toText(config['webhook-url'])
  return url === null ? null : { type, config: { webhook_url: url } }
}

/** Properties of a provider that are converted or covered by its note. */
const KNOWN: Record<string, RegExp> = {
  email: /^(default-alert|overrides|to|from|username|password|host|port)$/,
  custom: /^(default-alert|overrides|url|headers|body|method|placeholders)$/,
}
const KNOWN_OF_CHAT = /^(default-alert|overrides|webhook-url)$/

/** The providers as channels, with another channel for each group that has its own configuration. */
export type AlertingConfig = {
  channels: ChannelEntry[]
  /** merges an alert of an endpoint with the defaults of its provider */
  withDefaults(alert: ForeignRecord): ForeignRecord
  /** converts a merged alert; null when its provider was left out */
  toRule(merged: ForeignRecord, group: string | null, addWarning: (message: string) => void): RuleEntry | null
}

/** Returns the highest number of consecutive failures before an alert; null without alerts. The default of Gatus is 3. */
export function findThreshold(alerts: ForeignRecord[], addWarning: (message: string) => void): number | null {
  const thresholds = alerts.map(
    alert => toNumberOr(3, ['failure-threshold', alert['failure-threshold']], addWarning) || 3,
  )
  if (thresholds.length === 0) return null
  const highest = Math.max(1, ...thresholds)
  if (new Set(thresholds).size > 1) addWarning(`all its alerts use the highest failure-threshold, ${highest}`)
  return highest
}

/** Warns about properties of an alert without a counterpart. */
export function warnAboutAlert(alert: ForeignRecord, addWarning: (message: string) => void): void {
  const lost = ['provider-override', 'description', 'success-threshold'].filter(key => isSet(alert[key]))
  if (lost.length > 0) addWarning(`its ${lost.join(', ')} was not carried over`)
}

export function parseAlerting(source: unknown, warn: WarnAt): AlertingConfig {
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
    toRule(merged, group, addWarning) {
      const kind = String(merged.type)
      const names = [channelName(kind, group), channelName(kind, null)]
      const channel = names.find(name => known.has(name))
      if (channel === undefined) return null
      return {
        channel,
        on_down: true,
        on_recovery: merged['send-on-resolved'] === true,
        ...toReminder(merged, addWarning),
      }
    },
  }
}

const channelName = (kind: string, group: string | null) => toName(group === null ? kind : `${kind} (${group})`, kind)

function toReminder(alert: ForeignRecord, addWarning: (message: string) => void): Partial<RuleEntry> {
  const minutes =
    toDurationMs(0, ['minimum-reminder-interval', alert['minimum-reminder-interval']], addWarning) / 60_000
  if (minutes === 0) return {}
  const onClamped = (clamped: number) =>
    addWarning(`its reminder interval of ${minutes} min was changed to ${clamped} min`)
  return { remind_every_minutes: clampWithWarning(minutes, REMINDER_BOUNDS, onClamped) }
}

function toChannels(kind: string, config: unknown, warn: WarnAt): ChannelEntry[] {
  const path = `alerting.${kind}`
  if (!isRecord(config) || !Object.hasOwn(PROVIDERS, kind)) {
    warn(path, `Picket has no channel type for ${kind}${LEFT_OUT}`)
    return []
  }
  if (NOTES[kind] !== undefined) warn(path, NOTES[kind])
  warnAboutProvider(kind, config, path, warn)
  const target = PROVIDERS[kind]!(config, message => warn(path, message))
  const own = target ? [{ name: channelName(kind, null), ...target }] : []
  if (target === null) warn(path, `${kind} has no target${LEFT_OUT}`)
  const overrides = listRecords(config.overrides ?? [], `${path}.overrides`, warn).flatMap(({ record, path }) => {
    const ofGroup = PROVIDERS[kind]!({ ...config, ...record }, message => warn(path, message))
    const group = toText(record.group)
    if (ofGroup !== null && group !== null) return [{ name: channelName(kind, group), ...ofGroup }]
    warn(path, `this override has no group or no target${LEFT_OUT}`)
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
