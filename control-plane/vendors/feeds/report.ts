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

const MOST_INCIDENTS = 200
const MOST_COMPONENTS = 1_000
const MOST_AFFECTED = 50

/** A report within bounds, however much the document holds: ids once, texts clean, times that can be believed. */
export function boundedReport({ status, incidents, components }: FeedReport, now: Date): FeedReport {
  const ordered = [...incidents.filter(isOpen), ...incidents.filter(one => !isOpen(one))]
  const unique = new Map<string, ReportedIncident>()
  for (const incident of ordered) {
    const id = plainText(incident.id, 500) || plainText(incident.title, 500)
    if (!unique.has(id)) unique.set(id, incident)
    if (unique.size === MOST_INCIDENTS) break
  }
  return {
    status,
    incidents: [...unique].map(([id, incident]) => cleaned({ ...incident, id }, now)),
    components: components.slice(0, MOST_COMPONENTS).map(({ id, name, severity }) => {
      return { id: plainText(id, 200), name: plainText(name, 200), severity }
    }),
  }
}

export const isOpen = ({ status }: Pick<ReportedIncident, 'status'>): boolean => status !== 'resolved'

function cleaned(incident: ReportedIncident, now: Date): ReportedIncident {
  return {
    ...incident,
    title: plainText(incident.title, 200) || 'Untitled incident',
    components: [...new Set(incident.components.slice(0, MOST_AFFECTED).map(name => plainText(name, 200)))],
    started_at: believable(incident.started_at, now),
    resolved_at: believable(incident.resolved_at, now),
    updated_at: believable(incident.updated_at, now),
    source_url: webAddress(incident.source_url),
  }
}

/** One line of text out of whatever a vendor wrote, markup included. */
export function plainText(text: string, maxLength: number): string {
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

const OLDEST = Date.UTC(2000, 0)

/** A time between 2000 and now, as ISO 8601 UTC; null for what is none. */
export function believable(time: string | null, now: Date): string | null {
  const ms = time === null ? Number.NaN : Date.parse(time)
  return ms >= OLDEST && ms <= now.getTime() ? new Date(ms).toISOString() : null
}

const LONGEST_URL = 2_048

function webAddress(url: string | null): string | null {
  if (url === null || url.length > LONGEST_URL || !URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}
