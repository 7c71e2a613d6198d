import type { VendorIncidentStatus, VendorSeverity } from './report.ts'

/** Before a word: it does not apply, or not fully. */
const NEGATION = '(?:not|non|un|no longer|partially|partly)(?: (?:yet|fully|completely|entirely))*'
const NEGATED_WORD = new RegExp(`\\b${NEGATION} [a-z]+`, 'g')

const SEVERITIES: [RegExp, VendorSeverity][] = [
  [/\b(critical|severe)\b/, 'critical'],
  [
    /\b(partial|degraded|degradation|minor|low|medium|moderate|slow|latency|delay\w*|intermittent|disruptions?|yellow|warning)\b/,
    'minor',
  ],
  [/\b(major|high|outages?|down|offline|unavailable|unreachable|red)\b/, 'major'],
  [/\b(none|notice|information|informational|operational|ok|green|resolved|available)\b/, 'none'],
]

/**
 * Parses a value that states a severity, such as `SERVICE_OUTAGE`, `major` or `red`. Unknown values and negated words
 * (`not available`, `non-critical`) are minor.
 */
export function parseSeverity(value: string): VendorSeverity {
  const words = toWords(value).replace(NEGATED_WORD, '')
  return SEVERITIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'minor'
}

const BAD_WORDS = /\b(outages?|disruptions?|down|offline|unavailable|unreachable)\b/
const SOFTENING = /\b(partial|some|minor|intermittent|degraded|degradation)\b/

/** Guesses a severity from a title. An unclear title is minor, so that a guess does not alert as down. */
export function guessSeverity(title: string): VendorSeverity {
  const words = toWords(title)
  return BAD_WORDS.test(words) && !SOFTENING.test(words) ? 'major' : 'minor'
}

const RESOLVED = new RegExp(
  `\\b(${NEGATION} )?(?:resolved|closed|completed|mitigated|fixed|recovered|postmortem|post mortem|ok|operational|available)\\b( soon| shortly)?`,
)
const NO_LONGER_OPEN = /\bno longer (active|open|ongoing|in progress)\b/
const OPEN_STATUSES: [RegExp, VendorIncidentStatus][] = [
  [/\b(monitoring|verifying|observing|watching)\b/, 'monitoring'],
  [/\b(identified|in progress|fixing|mitigating)\b/, 'identified'],
  [/\b(investigating|open|active|new|reported|confirmed|update|unresolved)\b/, 'investigating'],
]

/**
 * Parses a status from one word or a few; null when there is none. `Partially resolved` and `Available soon` are open, `No
 * longer active` is resolved.
 */
export function parseStatus(value: string): VendorIncidentStatus | null {
  const words = toWords(value)
  const resolved = RESOLVED.exec(words)
  const isLimited = resolved !== null && (resolved[1] ?? resolved[2]) !== undefined
  if (resolved === null ? NO_LONGER_OPEN.test(words) : !isLimited) return 'resolved'
  const open = OPEN_STATUSES.find(([pattern]) => pattern.test(words))?.[1]
  return open ?? (isLimited ? 'investigating' : null)
}

const OVER =
  /\b(has|have|had) (now |since )?(been |fully )*(resolved|mitigated|fixed|recovered)\b|\b(issue|incident|problem) (is|was) (now |fully )*(resolved|mitigated|fixed)\b|\boperating normally\b/

const OF_ANOTHER = /\b(previous|earlier) ([a-z]+ )?(issues?|incidents?|problems?|outages?|disruptions?)\b/
const SENTENCE_END = /[.!?;]\s/

/** Whether a text says that the incident is resolved, in a sentence that is not about a previous or earlier one. */
export const describesResolution = (text: string): boolean =>
  text
    .toLowerCase()
    .split(SENTENCE_END)
    .some(sentence => OVER.test(sentence) && !OF_ANOTHER.test(sentence))

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
