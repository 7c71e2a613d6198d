import { toStorableText } from '../../../../shared/storable-text.ts'

/** The content of a vendor's feed, in any format. */
export type FeedReport = {
  /** overall status; `unknown`: the format has none */
  status: VendorStatus
  /** open incidents first, newest first; resolved ones close known incidents */
  incidents: ReportedIncident[]
  /** empty for formats without components */
  components: ReportedComponent[]
}

export const VENDOR_STATUSES = ['operational', 'degraded', 'down', 'unknown'] as const
export type VendorStatus = (typeof VENDOR_STATUSES)[number]

/** `none`: for information, nothing is impaired */
export const VENDOR_SEVERITIES = ['none', 'minor', 'major', 'critical'] as const
export type VendorSeverity = (typeof VENDOR_SEVERITIES)[number]

export const VENDOR_INCIDENT_STATUSES = ['investigating', 'identified', 'monitoring', 'resolved'] as const
export type VendorIncidentStatus = (typeof VENDOR_INCIDENT_STATUSES)[number]

/** Times are ISO 8601 UTC; null when missing or implausible. Texts are one line without markup. */
export type ReportedIncident = {
  id: string
  title: string
  severity: VendorSeverity
  status: VendorIncidentStatus
  /** names of affected components */
  components: string[]
  started_at: string | null
  resolved_at: string | null
  updated_at: string | null
  /** http or https; null: use the status page of the vendor */
  source_url: string | null
}

export type ReportedComponent = { id: string; name: string; severity: VendorSeverity }

/** A document that cannot be parsed. It does not mean that the vendor has an incident. */
export class FeedError extends Error {}

const MAX_INCIDENTS = 200
const MAX_COMPONENTS = 1_000
const MAX_AFFECTED_COMPONENTS = 50

/** Normalizes a report: limits, unique ids, clean texts, plausible times. */
export function normalizeReport({ status, incidents, components }: FeedReport, now: Date): FeedReport {
  const ordered = [...incidents.filter(isOpen), ...incidents.filter(incident => !isOpen(incident))]
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

/** Converts text with markup to one line of plain text. */
export function toPlainText(text: string, maxLength: number): string {
  const bare = text
    .slice(0, 20_000)
    .replace(/<[^<>]*>/g, ' ')
    .replace(BLANKS, ' ')
  return toStorableText(bare.trim(), maxLength)
}

/** White space, direction marks, control characters and unassigned characters. */
const BLANKS = /[\s\p{Cc}\p{Cn}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu

const MIN_TIME_MS = Date.UTC(2000, 0)

/** Returns a time between 2000 and now as ISO 8601 UTC; null for other values. */
function toPlausibleTime(time: string | null, now: Date): string | null {
  const ms = time === null ? Number.NaN : Date.parse(time)
  return ms >= MIN_TIME_MS && ms <= now.getTime() ? new Date(ms).toISOString() : null
}

const MAX_URL_LENGTH = 2_048

function toHttpUrl(url: string | null): string | null {
  if (url === null || url.length > MAX_URL_LENGTH || !URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}
