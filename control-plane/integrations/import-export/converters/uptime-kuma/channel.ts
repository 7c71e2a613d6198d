import type { ChannelEntry } from '../../file/project-file.ts'
import { LEFT_OUT } from '../../import/import-report.ts'
import { type ForeignRecord, isOn, isRecord, isSet, toName, toRecipients, toText } from '../foreign-file.ts'

type Config = { type: ChannelEntry['type']; config: Record<string, unknown> }
type AddWarning = (message: string) => void

/** Converts each type of notification; null when it has no target. */
const KINDS: Record<string, (config: ForeignRecord, addWarning: AddWarning) => Config | null> = {
  slack: config => chat('chat_a', config.slackwebhookURL),
  discord: config => chat('chat_b', config.discordWebhookUrl),
  teams: config => chat('chat_c', config.webhookUrl),
  webhook: toWebhook,
  smtp: toMail,
}

/** Properties that are converted, covered by a warning, or without effect on messages. */
const KNOWN =
  /^(id|name|type|active|userId|isDefault|applyExisting|slackwebhookURL|slackrichmessage|discordWebhookUrl|webhook(Url|URL|ContentType|CustomBody|AdditionalHeaders)|smtp\w+)$/

/** Converts a notification; null when its type is not supported. `config` is JSON as text. */
export function toChannel(record: ForeignRecord, warn: AddWarning): ChannelEntry | null {
  const config = parsed(record.config)
  const name = toName(record.name, 'Notification')
  const addWarning = (message: string) => warn(`${name}: ${message}`)
  const type = toText(config?.type)
  if (!config || type === null) {
    addWarning(`the notification is invalid${LEFT_OUT}`)
    return null
  }
  const channel = Object.hasOwn(KINDS, type) ? KINDS[type]!(config, addWarning) : null
  if (channel === null) {
    const reason = Object.hasOwn(KINDS, type)
      ? 'the notification has no target'
      : `notifications of type ${type} are not supported`
    addWarning(`${reason}${LEFT_OUT}`)
    return null
  }
  const lost = Object.keys(config).filter(key => isSet(config[key]) && !KNOWN.test(key))
  if (lost.length > 0) addWarning(`its ${lost.join(', ')} was not carried over`)
  if (record.active != null && !isOn(record.active)) addWarning('the notification was inactive; the channel is active')
  return { name, ...channel, is_default: isOn(config.isDefault) || isOn(record.isDefault) }
}

function chat(type: ChannelEntry['type'], address: unknown): Config | null {
  const url = toText(address)
  return url === null ? null : { type, config: { webhook_url: url } }
}

function toWebhook(config: ForeignRecord, addWarning: AddWarning): Config | null {
  const url = toText(config.webhookURL)
  if (url === null) return null
  addWarning('the webhook gets the events of Picket, whose format differs from Uptime Kuma')
  const headers = parsed(config.webhookAdditionalHeaders)
  return { type: 'webhook', config: { url, ...(headers && { headers: texts(headers) }) } }
}

/** Mail is sent by Picket's mail server. */
function toMail(config: ForeignRecord, addWarning: AddWarning): Config | null {
  const to = [config.smtpTo, config.smtpCC, config.smtpBCC]
    .flatMap(list => toText(list)?.split(/[,;]/) ?? [])
    .map(address => (/<([^<>]+)>/.exec(address)?.[1] ?? address).trim())
    .filter(address => address !== '')
  if (to.length === 0) return null
  addWarning("mail is sent by Picket's mail server, not by the configured one")
  return { type: 'email', config: { to: toRecipients(to, addWarning) } }
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
