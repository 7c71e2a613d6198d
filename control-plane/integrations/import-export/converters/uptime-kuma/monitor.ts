import type { ChannelEntry, MonitorEntry } from '../../file/project-file.ts'
import { LEFT_OUT, RULE_LEFT_OUT } from '../../import/import-report.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  INTERVAL_BOUNDS,
  isOn,
  isRecord,
  isSet,
  listRecords,
  MAX_RETRIES,
  REMINDER_BOUNDS,
  TIMEOUT_BOUNDS,
  toName,
  toNumber,
  toNumberOr,
  toTags,
  toText,
  warnIfCut,
} from '../foreign-file.ts'
import { TARGET_CONVERTERS } from './targets.ts'

type ConversionContext = {
  /** channels by the id of their notification */
  channels: ReadonlyMap<string, ChannelEntry>
  /** a group and the groups above it, which come first, by its id */
  groups: ReadonlyMap<string, ForeignRecord[]>
}
type AddWarning = (message: string) => void

/** Converts a monitor; null when Picket has no equivalent. */
export function toMonitor(record: ForeignRecord, context: ConversionContext, warn: AddWarning): MonitorEntry | null {
  const name = toName(record.name, 'Monitor')
  const type = String(record.type)
  const addWarning = (message: string) => warn(`${name}: ${message}`)
  if (isSet(record.parent) && !context.groups.has(String(record.parent))) {
    addWarning('its group is not in this file; it does not get the tag of the group')
  }
  if (type === 'group') {
    addWarning('a group becomes a tag of its monitors; its notifications become alert rules of each of them')
    return null
  }
  if (!Object.hasOwn(TARGET_CONVERTERS, type)) {
    addWarning(`monitors of type ${type} are not supported${LEFT_OUT}`)
    return null
  }
  if (isOn(record.upsideDown)) {
    addWarning(`upside down mode is not supported${LEFT_OUT}`)
    return null
  }
  const target = TARGET_CONVERTERS[type]!(record, addWarning)
  if (target === null) return null
  const groups = context.groups.get(String(record.parent)) ?? []
  warnAboutLost(record, addWarning)
  warnIfCut(record.name, name, addWarning)
  return {
    name,
    ...(type !== 'push' && toTimes(record, addWarning)),
    ...target,
    ...(record.active === undefined || isOn(record.active) ? {} : { is_paused: true }),
    tags: toTags([...groups.map(group => String(group.name)), ...ownTags(record)], addWarning),
    rules: mergeRules([record, ...groups].map(one => toRules(one, context.channels, addWarning))),
  }
}

function toTimes(record: ForeignRecord, addWarning: AddWarning) {
  const interval = toNumberOr(60, ['interval', record.interval], addWarning)
  const usualTimeout = interval * 0.8
  const timeoutMs = (toNumberOr(usualTimeout, ['timeout', record.timeout], addWarning) || usualTimeout) * 1_000
  const retries = toNumberOr(0, ['number of retries', record.maxretries], addWarning)
  const seconds = clampWithWarning(interval, INTERVAL_BOUNDS, clamped =>
    addWarning(`its interval of ${interval} s was changed to ${clamped} s`),
  )
  const timeout = clampWithWarning(timeoutMs, TIMEOUT_BOUNDS, clamped => {
    if (Math.abs(clamped - timeoutMs) < 1) return
    addWarning(`its timeout of ${timeoutMs / 1_000} s was changed to ${clamped / 1_000} s`)
  })
  const count = clampWithWarning(retries, [0, MAX_RETRIES], clamped =>
    addWarning(`its ${retries} retries were changed to ${clamped}`),
  )
  return { interval_seconds: seconds, timeout_ms: timeout, retry_count: count }
}

/** Converts tags of the form `{ name, value }`. */
function ownTags(record: ForeignRecord): (string | null)[] {
  return listRecords(record.tags ?? [], 'tags', () => {}).map(({ record: { name, value } }) => {
    const [label, text] = [toText(name), toText(value)]
    return label !== null && text !== null ? `${label}: ${text}` : label
  })
}

/** Reads `{ "1": true }` and `[1]`. */
function readNotificationIds(list: unknown, addWarning: AddWarning): string[] {
  if (Array.isArray(list)) return [...new Set(list.map(String))]
  if (isRecord(list)) return Object.keys(list).filter(id => list[id])
  if (isSet(list)) addWarning(`its list of notifications was not understood${RULE_LEFT_OUT}`)
  return []
}

/** A group sends its notifications when one of its monitors is down. The first rule of a channel counts: the monitor's own. */
const mergeRules = (rules: ReturnType<typeof toRules>[]) =>
  rules.flat().filter((rule, i, all) => all.findIndex(({ channel }) => channel === rule.channel) === i)

/** Converts `notificationIDList` and `resendInterval` (checks between reminders). */
function toRules(record: ForeignRecord, channels: ConversionContext['channels'], addWarning: AddWarning) {
  const ids = readNotificationIds(record.notificationIDList, addWarning)
  const missing = ids.filter(id => !channels.has(id))
  for (const id of missing) addWarning(`its notification ${id} is not a channel of the file${RULE_LEFT_OUT}`)
  const resend = toNumberOr(0, ['resend interval', record.resendInterval], addWarning)
  const minutes = (resend * (toNumber(record.interval) ?? 60)) / 60
  const onClamped = (clamped: number) =>
    addWarning(`its reminder interval of ${minutes} min was changed to ${clamped} min`)
  const remind =
    resend > 0 && ids.length > 0 ? { remind_every_minutes: clampWithWarning(minutes, REMINDER_BOUNDS, onClamped) } : {}
  return ids.flatMap(id => {
    const channel = channels.get(id)
    return channel ? [{ channel: channel.id ?? channel.name, ...remind }] : []
  })
}

/** Properties without a counterpart, their ordinary values, and the warning for other values. */
const LOST: [string, unknown[], string][] = [
  ['ignoreTls', [], 'certificates are always verified; an invalid one makes the check fail'],
  ['proxyId', [], 'its proxy was not carried over'],
  ['maxredirects', [10], 'up to ten redirects are followed'],
  ['packetSize', [56], 'its packet size was not carried over'],
  ['description', [], 'its description was not carried over'],
  ['tlsCert', [], 'its client certificate was not carried over'],
  ['tlsCa', [], 'its certificate authority was not carried over'],
  ['conditions', [], 'its conditions were left out'],
  ['expectedTlsAlert', ['none'], 'its expected TLS alert was not carried over'],
  ['cacheBust', [], 'its cache bust parameter was not carried over'],
  ['ipFamily', ['auto'], 'its IP family was not carried over; both families are used'],
  ['retryOnlyOnStatusCodeFailure', [], 'retries apply to all failures, not only to status codes'],
  ['ping_count', [1, 3], 'its number of packets was not carried over'],
  ['ping_per_request_timeout', [2], 'its timeout for each packet was not carried over'],
]

function warnAboutLost(record: ForeignRecord, addWarning: AddWarning): void {
  for (const [field, ordinary, message] of LOST) {
    const value = record[field]
    if (isSet(value) && !ordinary.includes(value)) addWarning(message)
  }
  if (record.maxredirects === 0) addWarning('it followed no redirects; up to ten redirects are followed now')
}
