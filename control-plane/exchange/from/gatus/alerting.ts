import type { ChannelEntry, RuleEntry } from '../../document.ts'
import { isSource, nameOf, REMINDER_BOUNDS, recordsIn, type Source, textOf, type Warn, within } from '../source.ts'
import { durationMs } from './duration.ts'

type Made = Pick<ChannelEntry, 'type' | 'config'>

/** Where each provider keeps what ours needs. Null: it is not there. */
const PROVIDERS: Record<string, (config: Source) => Made | null> = {
  slack: config => chat('chat_a', config),
  discord: config => chat('chat_b', config),
  teams: config => chat('chat_c', config),
  'teams-workflows': config => chat('chat_c', config),
  mattermost: config => chat('chat_a', config),
  email(config) {
    const to = (textOf(config.to) ?? '').split(',').flatMap(address => address.trim() || [])
    return to.length === 0 ? null : { type: 'email', config: { to: [...new Set(to)].slice(0, 20) } }
  },
  custom(config) {
    const url = textOf(config.url)
    const headers = isSource(config.headers) ? { headers: config.headers } : {}
    return url === null ? null : { type: 'webhook', config: { url, ...headers } }
  },
}

const NOTES: Record<string, string> = {
  email: 'mail goes out by the server of Picket, not by the one that is set there',
  custom: 'the webhook gets the events of Picket; the body that is written there was not carried over',
}

function chat(type: ChannelEntry['type'], config: Source): Made | null {
  const url = textOf(config['webhook-url'])
  return url === null ? null : { type, config: { webhook_url: url } }
}

/** The providers as channels; one more a group that has a config of its own. */
export type Alerting = {
  channels: ChannelEntry[]
  /** what an endpoint's alert becomes; null where its provider was left out */
  ruleOf(alert: Source, group: string | null): RuleEntry | null
  /** failures in a row until it is told, by Gatus' defaults 3 */
  thresholdOf(alert: Source): number
}

export function readAlerting(source: unknown, warn: Warn): Alerting {
  const providers = isSource(source) ? source : {}
  const channels = Object.entries(providers).flatMap(([kind, config]) => channelsOf(kind, config, warn))
  const withDefaults = (alert: Source): Source => {
    const provider = providers[String(alert.type)]
    const defaults = isSource(provider) && isSource(provider['default-alert']) ? provider['default-alert'] : {}
    return { ...defaults, ...alert }
  }
  return {
    channels,
    thresholdOf: alert => Number(withDefaults(alert)['failure-threshold']) || 3,
    ruleOf(alert, group) {
      const whole = withDefaults(alert)
      const kind = String(alert.type)
      const names = [channelName(kind, group), channelName(kind, null)]
      const channel = names.find(name => channels.some(one => one.name === name))
      if (channel === undefined || whole.enabled === false) return null
      return { channel, on_down: true, on_recovery: whole['send-on-resolved'] === true, ...reminderOf(whole) }
    },
  }
}

const channelName = (kind: string, group: string | null) => nameOf(group === null ? kind : `${kind} (${group})`, kind)

function reminderOf(alert: Source): Partial<RuleEntry> {
  const ms = durationMs(alert['minimum-reminder-interval'])
  return ms === null ? {} : { remind_every_minutes: within(ms / 60_000, REMINDER_BOUNDS, () => {}) }
}

function channelsOf(kind: string, config: unknown, warn: Warn): ChannelEntry[] {
  const path = `alerting.${kind}`
  if (!isSource(config) || !Object.hasOwn(PROVIDERS, kind)) {
    warn(path, `Picket has no channel of the kind ${kind}; it was left out`)
    return []
  }
  if (NOTES[kind] !== undefined) warn(path, NOTES[kind])
  const made = PROVIDERS[kind]!(config)
  const own = made ? [{ name: channelName(kind, null), ...made }] : []
  if (made === null) warn(path, `${kind} says not where it goes; it was left out`)
  const overrides = recordsIn(config.overrides ?? [], `${path}.overrides`, warn).flatMap(({ record, path }) => {
    const ofGroup = PROVIDERS[kind]!({ ...config, ...record })
    const group = textOf(record.group)
    if (ofGroup !== null && group !== null) return [{ name: channelName(kind, group), ...ofGroup }]
    warn(path, 'this override was left out')
    return []
  })
  return [...own, ...overrides]
}
