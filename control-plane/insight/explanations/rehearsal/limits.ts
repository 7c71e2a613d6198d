import { isDeepStrictEqual } from 'node:util'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { isDuration } from './replay/changed-attempt.ts'
import type { RehearsalReason, SettingsChange } from './replay/types.ts'

export const LIMIT_CODES = [
  'rechecks_not_made',
  'timeout_not_measured',
  'interval_not_simulated',
  'region_not_checked',
  'assertions_not_simulated',
  'setting_not_simulated',
  'second_opinions_not_asked',
  'list_shortened',
] as const

/** What the requested settings change, and what of it cannot be simulated. */
export type ChangeLimits = { change: SettingsChange; limits: RehearsalReason[] }

/** The differences of two configurations of a monitor. */
export function describeChange(before: StoredMonitor, after: StoredMonitor): ChangeLimits {
  const change: SettingsChange = {}
  const limits: RehearsalReason[] = []
  const note = (code: (typeof LIMIT_CODES)[number], message: string) => void limits.push({ code, message })
  if (after.retryCount !== before.retryCount) {
    change.retryCount = after.retryCount
    const more =
      'The additional re-checks were not made. The next checks of the schedule are counted instead, so the times are the latest possible ones.'
    const fewer = 'Re-checks beyond the lower number are left out. Other re-checks keep the times of the measurement.'
    note('rechecks_not_made', after.retryCount > before.retryCount ? more : fewer)
  }
  if (after.timeoutMs !== before.timeoutMs) {
    change.timeoutMs = after.timeoutMs
    const longer = 'Checks that reached the old timeout stay failed: no answer was measured.'
    const shorter =
      'Checks that exceed the lower timeout count as failed at the time at which they were measured, not earlier.'
    note('timeout_not_measured', after.timeoutMs > before.timeoutMs ? longer : shorter)
  }
  if (after.intervalSeconds !== before.intervalSeconds)
    note('interval_not_simulated', 'Another interval needs other checks. The stored checks keep their interval.')
  describeRegions(before, after, change, note)
  describeAssertions(before, after, change, note)
  const others = listOtherChanges(before, after)
  if (others.length > 0)
    note('setting_not_simulated', `These settings need other checks and are not simulated: ${others.join(', ')}.`)
  if (Object.keys(change).length > 0)
    note(
      'second_opinions_not_asked',
      'Only the second opinions and witnesses that were asked then are counted; the changed settings might have asked others.',
    )
  return { change, limits }
}

type Note = (code: (typeof LIMIT_CODES)[number], message: string) => void

function describeRegions(before: StoredMonitor, after: StoredMonitor, change: SettingsChange, note: Note): void {
  if (isDeepStrictEqual([...before.regions].sort(), [...after.regions].sort())) return
  change.regions = after.regions
  const added = after.regions.filter(region => !before.regions.includes(region))
  if (added.length === 0) return
  const message = `The monitor is not checked from ${added.join(', ')}. Only what was checked is counted.`
  note('region_not_checked', message)
}

function describeAssertions(before: StoredMonitor, after: StoredMonitor, change: SettingsChange, note: Note): void {
  const [old, next] = [before.assertions ?? [], after.assertions ?? []]
  if (isDeepStrictEqual(old, next)) return
  const durations = next.filter(isDuration)
  if (!isDeepStrictEqual(old.filter(isDuration), durations)) change.durations = durations
  const isOther = (one: (typeof old)[number]) => !isDuration(one)
  if (isDeepStrictEqual(old.filter(isOther), next.filter(isOther))) return
  const message =
    'Answers are not stored, so only assertions on response time and phases are simulated. The others keep their results.'
  note('assertions_not_simulated', message)
}

/** Settings that decide what a check does. */
const CHECK_SETTINGS = {
  type: 'type',
  url: 'url',
  method: 'method',
  headers: 'headers',
  body: 'body',
  keyword: 'keyword',
  keywordType: 'keyword_type',
  sslCheck: 'ssl_check',
  screenshotCompare: 'screenshot_compare',
  witness: 'witness',
  witnessWithCredentials: 'witness_with_credentials',
} as const

function listOtherChanges(before: StoredMonitor, after: StoredMonitor): string[] {
  const keys = Object.keys(CHECK_SETTINGS) as (keyof typeof CHECK_SETTINGS)[]
  return keys.filter(key => !isDeepStrictEqual(before[key], after[key])).map(key => CHECK_SETTINGS[key])
}
