import type { ChannelEntry } from '../../file/project-file.ts'
import { type ForeignRecord, isRecord, isSet, toName, toText } from '../foreign-file.ts'

type Config = { type: ChannelEntry['type']; config: Record<string, unknown> }
type Say = (message: string) => void

/** Where each kind of notification keeps what ours needs. Null: it is not there. */
const KINDS: Record<string, (config: ForeignRecord, say: Say) => Config | null> = {
  slack: config => chat('chat_a', config.slackwebhookURL),
  discord: config => chat('chat_b', config.discordWebhookUrl),
  teams: config => chat('chat_c', config.webhookUrl),
  webhook: toWebhook,
  smtp: toMail,
}

/** What is read, what is told otherwise, and what says nothing of where a message goes or how it reads. */
const KNOWN =
  /^(id|name|type|active|userId|isDefault|applyExisting|slackwebhookURL|slackrichmessage|discordWebhookUrl|webhook(Url|URL|ContentType|CustomBody|AdditionalHeaders)|smtp\w+)$/

/** A notification as a channel; null where there is none of its kind. `config` is JSON in a text. */
export function toChannel(record: ForeignRecord, say: Say): ChannelEntry | null {
  const config = parsed(record.config)
  const name = toName(record.name, 'Notification')
  const type = toText(config?.type)
  if (!config || type === null) {
    say(`the notification "${name}" cannot be read; it was left out`)
    return null
  }
  const made = Object.hasOwn(KINDS, type) ? KINDS[type]!(config, say) : null
  if (made === null) {
    const why = Object.hasOwn(KINDS, type) ? 'says not where it goes' : `is of type ${type}, which Picket has not`
    say(`the notification "${name}" ${why}; it was left out`)
    return null
  }
  const lost = Object.keys(config).filter(key => isSet(config[key]) && !KNOWN.test(key))
  if (lost.length > 0) say(`of the notification "${name}" ${lost.join(', ')} was not carried over`)
  if (record.active === false) say(`the notification "${name}" is not active there; here it is`)
  return { name, ...made, is_default: config.isDefault === true || record.isDefault === true }
}

function chat(type: ChannelEntry['type'], address: unknown): Config | null {
  const url = toText(address)
  return url === null ? null : { type, config: { webhook_url: url } }
}

function toWebhook(config: ForeignRecord, say: Say): Config | null {
  const url = toText(config.webhookURL)
  if (url === null) return null
  say('the webhook gets the events of Picket, which read otherwise than those of Uptime Kuma')
  const headers = parsed(config.webhookAdditionalHeaders)
  return { type: 'webhook', config: { url, ...(headers && { headers: texts(headers) }) } }
}

/** Mail goes out by Picket's own server. */
function toMail(config: ForeignRecord, say: Say): Config | null {
  const to = [config.smtpTo, config.smtpCC, config.smtpBCC]
    .flatMap(list => toText(list)?.split(/[,;]/) ?? [])
    .map(address => (/<([^<>]+)>/.exec(address)?.[1] ?? address).trim())
    .filter(address => address !== '')
  if (to.length === 0) return null
  say('mail goes out by the server of Picket, not by the one that is set there')
  return { type: 'email', config: { to: [...new Set(to)].slice(0, 20) } }
}

function parsed(text: unknown): ForeignRecord | null {
  if (isRecord(text)) return text
  if (typeof text !== 'string' || text.trim() === '') return null
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

const texts = (headers: ForeignRecord) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
