/** What a vendor's public feed says, whichever format it comes in. */
export type FeedReport = {
  /** the vendor's own word for all of it; `unknown`: the format has none */
  status: VendorStatus
  /** open ones first, newest first; what is resolved for those who know it as open */
  incidents: ReportedIncident[]
  /** what formats without components leave empty */
  components: ReportedComponent[]
}

export const VENDOR_STATUSES = ['operational', 'degraded', 'down', 'unknown'] as const
export type VendorStatus = (typeof VENDOR_STATUSES)[number]

/** `none`: told for information, nothing is impaired */
export const VENDOR_SEVERITIES = ['none', 'minor', 'major', 'critical'] as const
export type VendorSeverity = (typeof VENDOR_SEVERITIES)[number]

export const VENDOR_INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type VendorIncidentStatus = (typeof VENDOR_INCIDENT_STATUSES)[number]

/** Times are ISO 8601 UTC, null where the vendor gives none that can be believed. Texts are one line without markup. */
export type ReportedIncident = {
  id: string
  title: string
  severity: VendorSeverity
  status: VendorIncidentStatus
  /** names of what is affected */
  components: string[]
  started_at: string | null
  resolved_at: string | null
  updated_at: string | null
  /** http(s); null: the vendor's status page */
  source_url: string | null
}

export type ReportedComponent = { id: string; name: string; severity: VendorSeverity }

/** A document that is not what its address promised. Our own matter: it says nothing about the vendor. */
export class FeedError extends Error {}

const MAX_INCIDENTS = 200
const MAX_COMPONENTS = 1_000
const MAX_AFFECTED_COMPONENTS = 50

/** A report within bounds, however much the document holds: ids once, texts clean, times that can be believed. */
export function normalizeReport({ status, incidents, components }: FeedReport, now: Date): FeedReport {
  const ordered = [...incidents.filter(isOpen), ...incidents.filter(one => !isOpen(one))]
  const unique = new Map<string, ReportedIncident>()
  for (const incident of ordered) {
    const id = toPlainText(incident.id, 500) || toPlainText(incident.title, 500)
    if (!unique.has(id)) unique.set(id, incident)
    if (unique.size === MAX_INCIDENTS) break
  }
  return {
    status,
    incidents: [...unique].map(([id, incident]) => normalizeIncident({ ...incident, id }, now)),
    components: components.slice(0, MAX_COMPONENTS).map(({ id, name, severity }) => {
      return { id: toPlainText(id, 200), name: toPlainText(name, 200), severity }
    }),
  }
}

export const isOpen = ({ status }: Pick<ReportedIncident, 'status'>): boolean => status !== 'resolved'

function normalizeIncident(incident: ReportedIncident, now: Date): ReportedIncident {
  return {
    ...incident,
    title: toPlainText(incident.title, 200) || 'Untitled incident',
    components: [...new Set(incident.components.slice(0, MAX_AFFECTED_COMPONENTS).map(name => toPlainText(name, 200)))],
    started_at: toPlausibleTime(incident.started_at, now),
    resolved_at: toPlausibleTime(incident.resolved_at, now),
    updated_at: toPlausibleTime(incident.updated_at, now),
    source_url: toHttpUrl(incident.source_url),
  }
}

/** One line of text out of whatever a vendor wrote, markup included. */
export function toPlainText(text: string, maxLength: number): string {
  const bare = text
    .slice(0, 20_000)
    .replace(/<[^<>]*>/g, ' ')
    .replace(BLANKS, ' ')
  // a pair that is cut in two cannot be stored
  return bare
    .trim()
    .slice(0, maxLength)
    .replace(/\p{Surrogate}/gu, '\ufffd')
}

/** what turns the direction of a text, control characters and unassigned ones too: who knows what they do where it is shown */
const BLANKS = /[\s\p{Cc}\p{Cn}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

const MIN_TIME_MS = Date.UTC(2000, 0)

/** A time between 2000 and now, as ISO 8601 UTC; null for what is none. */
export function toPlausibleTime(time: string | null, now: Date): string | null {
  const ms = time === null ? Number.NaN : Date.parse(time)
  return ms >= MIN_TIME_MS && ms <= now.getTime() ? new Date(ms).toISOString() : null
}

const MAX_URL_LENGTH = 2_048

function toHttpUrl(url: string | null): string | null {
  if (url === null || url.length > MAX_URL_LENGTH || !URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}
