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

/** How bad something is, by a value that stands for just that: `SERVICE_OUTAGE`, `major`, `red`. Unknown ones are minor. */
export function parseSeverity(value: string): VendorSeverity {
  const words = toWords(value)
  return SEVERITIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'minor'
}

const BAD_WORDS = /\b(outages?|disruptions?|down|offline|unavailable|unreachable)\b/
const SOFTENING = /\b(partial|some|minor|intermittent|degraded|degradation)\b/

/** How bad something is, by a title that people wrote. What does not say so is minor: nobody is called out by a guess. */
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

/** The status that a word or a few stand for; null when they stand for none. */
export function parseStatus(value: string): VendorIncidentStatus | null {
  const words = toWords(value)
  return STATUSES.find(([pattern]) => pattern.test(words))?.[1] ?? null
}

const OVER =
  /\b(has|have|had) (now |since )?(been |fully )*(resolved|mitigated|fixed|recovered)\b|\b(issue|incident|problem) (is|was) (now |fully )*(resolved|mitigated|fixed)\b|\boperating normally\b/

/** True for prose that says that it is over. */
export const describesResolution = (text: string): boolean => OVER.test(text.toLowerCase())

const MAINTENANCE = /\bmaintenance\b|\b(scheduled|planned|upcoming)\b.*\b(event|upgrade|change)\b/i
const PROBLEM_WORDS = /\b(errors?|fail\w*|outages?|issues?|problems?|degrad\w*|after)\b/i

/** Of a title, or of what stands in its place: the patterns take time by the square of its length. */
const MAX_CHARACTERS = 1_000

/** True for the title of work that was announced, which is no incident. */
export function isMaintenance(title: string): boolean {
  const text = title.slice(0, MAX_CHARACTERS)
  return MAINTENANCE.test(text) && !PROBLEM_WORDS.test(text)
}

/** True for the status of what has not begun, or never will. */
export const isScheduled = (status: string): boolean => /^(scheduled|upcoming|cancell?ed|planned)$/i.test(status)

/** `SERVICE_OUTAGE` and `MajorOutage` as words. */
const toWords = (text: string): string =>
  text
    .slice(0, MAX_CHARACTERS)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase()
