import type { ChannelEntry, MonitorEntry } from '../../file/project-file.ts'
import {
  clampWithWarning,
  type ForeignRecord,
  INTERVAL_BOUNDS,
  isSet,
  listRecords,
  MAX_RETRIES,
  REMINDER_BOUNDS,
  TIMEOUT_BOUNDS,
  toName,
  toNumber,
  toTags,
  toText,
  warnIfCut,
} from '../foreign-file.ts'
import { TARGET_CONVERTERS } from './targets.ts'

export type ConversionContext = {
  /** by the id of their notification */
  channels: ReadonlyMap<string, ChannelEntry>
  /** names of a group and those above it, by its id */
  groups: ReadonlyMap<string, string[]>
}
type Say = (message: string) => void

/** A monitor of Uptime Kuma; null where Picket has nothing that would mean the same. */
export function toMonitor(record: ForeignRecord, around: ConversionContext, say: Say): MonitorEntry | null {
  const name = toName(record.name, 'Monitor')
  const type = String(record.type)
  const tell = (message: string) => say(`${name}: ${message}`)
  if (type === 'group') {
    tell('a group is no monitor here; its monitors have its name as a tag')
    return null
  }
  if (!Object.hasOwn(TARGET_CONVERTERS, type)) {
    tell(`monitors of type ${type} are not checked by Picket; it was left out`)
    return null
  }
  if (record.upsideDown === true || record.upsideDown === 1) {
    tell('it is upside down, up while its target is down, which Picket has not; it was left out')
    return null
  }
  const target = TARGET_CONVERTERS[type]!(record, tell)
  if (target === null) return null
  warnAboutLost(record, tell)
  warnIfCut(record.name, name, tell)
  return {
    name,
    ...(type !== 'push' && toTimes(record, tell)),
    ...target,
    ...(isTrue(record.active) ? {} : { is_paused: true }),
    tags: toTags([...(around.groups.get(String(record.parent)) ?? []), ...ownTags(record)], tell),
    rules: toRules(record, around.channels, tell),
  }
}

const isTrue = (value: unknown) => value === true || value === 1 || value === undefined

function toTimes(record: ForeignRecord, tell: Say) {
  const interval = toNumber(record.interval) ?? 60
  const timeoutMs = (toNumber(record.timeout) || interval * 0.8) * 1_000
  const retries = toNumber(record.maxretries) ?? 0
  const seconds = clampWithWarning(interval, INTERVAL_BOUNDS, moved =>
    tell(`it was checked every ${interval} s, and is every ${moved} s`),
  )
  const wait = clampWithWarning(timeoutMs, TIMEOUT_BOUNDS, moved => {
    if (Math.abs(moved - timeoutMs) >= 1) tell(`its timeout of ${timeoutMs / 1_000} s becomes ${moved / 1_000} s`)
  })
  const count = clampWithWarning(retries, [0, MAX_RETRIES], moved => tell(`its ${retries} retries become ${moved}`))
  return { interval_seconds: seconds, timeout_ms: wait, retry_count: count }
}

/** `{ name, value }` each. */
function ownTags(record: ForeignRecord): (string | null)[] {
  return listRecords(record.tags ?? [], 'tags', () => {}).map(({ record: { name, value } }) => {
    const [label, text] = [toText(name), toText(value)]
    return label !== null && text !== null ? `${label}: ${text}` : label
  })
}

/** `notificationIDList`: `{ "1": true }`. `resendInterval`: after how many checks an outage is told again. */
function toRules(record: ForeignRecord, channels: ConversionContext['channels'], tell: Say) {
  const ids = Object.entries((record.notificationIDList ?? {}) as object).flatMap(([id, isOn]) => (isOn ? [id] : []))
  const missing = ids.filter(id => !channels.has(id))
  if (missing.length > 0) tell(`${missing.length} of its notifications were left out`)
  const resend = toNumber(record.resendInterval) ?? 0
  const minutes = (resend * (toNumber(record.interval) ?? 60)) / 60
  const say = (moved: number) => tell(`while it is down it was told every ${minutes} min, and is every ${moved} min`)
  const remind =
    resend > 0 && ids.length > 0 ? { remind_every_minutes: clampWithWarning(minutes, REMINDER_BOUNDS, say) } : {}
  return ids.flatMap(id => {
    const channel = channels.get(id)
    return channel ? [{ channel: channel.id ?? channel.name, ...remind }] : []
  })
}

/** Fields that have no counterpart, the value that says nothing, and what is told of any other. */
const LOST: [string, unknown[], string][] = [
  ['ignoreTls', [], 'certificates are always verified here; a wrong one makes it fail'],
  ['proxyId', [], 'its proxy was not carried over'],
  ['maxredirects', [10], 'redirects are followed up to ten times here'],
  ['packetSize', [56], 'the size of its packets was not carried over'],
  ['description', [], 'its description was not carried over; monitors have none'],
  ['tlsCert', [], 'its client certificate was not carried over'],
  ['tlsCa', [], 'its own certificate authority was not carried over'],
  ['conditions', [], 'its conditions were left out'],
  ['expectedTlsAlert', ['none'], 'the TLS alert that it expects was not carried over'],
  ['cacheBust', [], 'the parameter against caches that its address gets was not carried over'],
  ['ipFamily', ['auto'], 'its family of addresses was not carried over; here it is whichever answers'],
  ['retryOnlyOnStatusCodeFailure', [], 'it was tried again for its status code only; here it is for any failure'],
  ['ping_count', [1, 3], 'the number of its packets was not carried over'],
  ['ping_per_request_timeout', [2], 'the patience for each of its packets was not carried over'],
]

function warnAboutLost(record: ForeignRecord, tell: Say): void {
  for (const [field, ordinary, message] of LOST) {
    const value = record[field]
    if (isSet(value) && !ordinary.includes(value)) tell(message)
  }
  if (record.maxredirects === 0) tell('it followed no redirects; here up to ten are followed')
}
