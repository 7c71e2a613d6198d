import type { VendorIncidentStatus, VendorSeverity } from './report.ts'

const SEVERITIES: [RegExp, VendorSeverity][] = [
  [/\b(critical|severe)\b/, 'critical'],
  [
    /\b(partial|degraded|degradation|minor|low|medium|moderate|slow|latency|delay\w*|intermittent|disruptions?|yellow|warning)\b/,
    'minor',
  ],
  [/\b(major|high|outages?|down|offline|unavailable|unreachable|red)\b/, 'major'],
  [/\b(none|notice|information|informational|operational|ok|green|resolved|available)\b/, 'none'],
]

/** Parses a value that states a severity, such as `SERVICE_OUTAGE`, `major` or `red`. Unknown values are minor. */
export function parseSeverity(value: string): VendorSeverity {
  const words = toWords(value)
  return SEVERITIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'minor'
}

const BAD_WORDS = /\b(outages?|disruptions?|down|offline|unavailable|unreachable)\b/
const SOFTENING = /\b(partial|some|minor|intermittent|degraded|degradation)\b/

/** Guesses a severity from a title. An unclear title is minor, so that a guess does not alert as down. */
export function guessSeverity(title: string): VendorSeverity {
  const words = toWords(title)
  return BAD_WORDS.test(words) && !SOFTENING.test(words) ? 'major' : 'minor'
}

const STATUSES: [RegExp, VendorIncidentStatus][] = [
  [
    /\b(resolved|closed|completed|mitigated|fixed|recovered|postmortem|post mortem|ok|operational|available)\b/,
    'resolved',
  ],
  [/\b(monitoring|verifying|observing|watching)\b/, 'monitoring'],
  [/\b(identified|in progress|fixing|mitigating)\b/, 'identified'],
  [/\b(investigating|open|active|new|reported|confirmed|update)\b/, 'investigating'],
]

/** Parses a status from one word or a few; null when there is none. */
export function parseStatus(value: string): VendorIncidentStatus | null {
  const words = toWords(value)
  return STATUSES.find(([pattern]) => pattern.test(words))?.[1] ?? null
}

const OVER =
  /\b(has|have|had) (now |since )?(been |fully )*(resolved|mitigated|fixed|recovered)\b|\b(issue|incident|problem) (is|was) (now |fully )*(resolved|mitigated|fixed)\b|\boperating normally\b/

/** Whether a text says that the incident is resolved. */
export const describesResolution = (text: string): boolean => OVER.test(text.toLowerCase())

const MAINTENANCE = /\bmaintenance\b|\b(scheduled|planned|upcoming)\b.*\b(event|upgrade|change)\b/i
const PROBLEM_WORDS = /\b(errors?|fail\w*|outages?|issues?|problems?|degrad\w*|after)\b/i

/** Longer titles are cut, because the time of the patterns grows with the square of the length. */
const MAX_CHARACTERS = 1_000

/** Whether a title announces maintenance, which is not an incident. */
export function isMaintenance(title: string): boolean {
  const text = title.slice(0, MAX_CHARACTERS)
  return MAINTENANCE.test(text) && !PROBLEM_WORDS.test(text)
}

/** Whether a status says that something has not begun or was cancelled. */
export const isScheduled = (status: string): boolean => /^(scheduled|upcoming|cancell?ed|planned)$/i.test(status)

/** Splits `SERVICE_OUTAGE` and `MajorOutage` into words. */
const toWords = (text: string): string =>
  text
    .slice(0, MAX_CHARACTERS)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase()
