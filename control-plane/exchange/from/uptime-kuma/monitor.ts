import type { ChannelEntry, MonitorEntry } from '../../document.ts'
import {
  INTERVAL_BOUNDS,
  isSaid,
  MOST_RETRIES,
  nameOf,
  numberOf,
  REMINDER_BOUNDS,
  recordsIn,
  type Source,
  TIMEOUT_BOUNDS,
  tagsOf,
  tellIfCut,
  textOf,
  within,
} from '../source.ts'
import { TARGETS } from './targets.ts'

export type Around = {
  /** by the id of their notification */
  channels: ReadonlyMap<string, ChannelEntry>
  /** names of a group and those above it, by its id */
  groups: ReadonlyMap<string, string[]>
}
type Say = (message: string) => void

/** A monitor of Uptime Kuma; null where Picket has nothing that would mean the same. */
export function toMonitor(record: Source, around: Around, say: Say): MonitorEntry | null {
  const name = nameOf(record.name, 'Monitor')
  const type = String(record.type)
  const tell = (message: string) => say(`${name}: ${message}`)
  if (type === 'group') {
    tell('a group is no monitor here; its monitors have its name as a tag')
    return null
  }
  if (!Object.hasOwn(TARGETS, type)) {
    tell(`monitors of type ${type} are not checked by Picket; it was left out`)
    return null
  }
  if (record.upsideDown === true || record.upsideDown === 1) {
    tell('it is upside down, up while its target is down, which Picket has not; it was left out')
    return null
  }
  const target = TARGETS[type]!(record, tell)
  if (target === null) return null
  sayWhatIsLost(record, tell)
  tellIfCut(record.name, name, tell)
  return {
    name,
    ...(type !== 'push' && timesOf(record, tell)),
    ...target,
    ...(isTrue(record.active) ? {} : { is_paused: true }),
    tags: tagsOf([...(around.groups.get(String(record.parent)) ?? []), ...ownTags(record)], tell),
    rules: rulesOf(record, around.channels, tell),
  }
}

const isTrue = (value: unknown) => value === true || value === 1 || value === undefined

function timesOf(record: Source, tell: Say) {
  const interval = numberOf(record.interval) ?? 60
  const timeoutMs = (numberOf(record.timeout) || interval * 0.8) * 1_000
  const retries = numberOf(record.maxretries) ?? 0
  const seconds = within(interval, INTERVAL_BOUNDS, moved =>
    tell(`it was checked every ${interval} s, and is every ${moved} s`),
  )
  const wait = within(timeoutMs, TIMEOUT_BOUNDS, moved => {
    if (Math.abs(moved - timeoutMs) >= 1) tell(`its timeout of ${timeoutMs / 1_000} s becomes ${moved / 1_000} s`)
  })
  const count = within(retries, [0, MOST_RETRIES], moved => tell(`its ${retries} retries become ${moved}`))
  return { interval_seconds: seconds, timeout_ms: wait, retry_count: count }
}

/** `{ name, value }` each. */
function ownTags(record: Source): (string | null)[] {
  return recordsIn(record.tags ?? [], 'tags', () => {}).map(({ record: { name, value } }) => {
    const [label, text] = [textOf(name), textOf(value)]
    return label !== null && text !== null ? `${label}: ${text}` : label
  })
}

/** `notificationIDList`: `{ "1": true }`. `resendInterval`: after how many checks an outage is told again. */
function rulesOf(record: Source, channels: Around['channels'], tell: Say) {
  const ids = Object.entries((record.notificationIDList ?? {}) as object).flatMap(([id, isOn]) => (isOn ? [id] : []))
  const missing = ids.filter(id => !channels.has(id))
  if (missing.length > 0) tell(`${missing.length} of its notifications were left out`)
  const resend = numberOf(record.resendInterval) ?? 0
  const minutes = (resend * (numberOf(record.interval) ?? 60)) / 60
  const say = (moved: number) => tell(`while it is down it was told every ${minutes} min, and is every ${moved} min`)
  const remind = resend > 0 && ids.length > 0 ? { remind_every_minutes: within(minutes, REMINDER_BOUNDS, say) } : {}
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

function sayWhatIsLost(record: Source, tell: Say): void {
  for (const [field, ordinary, message] of LOST) {
    const value = record[field]
    if (isSaid(value) && !ordinary.includes(value)) tell(message)
  }
  if (record.maxredirects === 0) tell('it followed no redirects; here up to ten are followed')
}
