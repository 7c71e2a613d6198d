import { parseSeverity, parseStatus } from './classification.ts'
import { getField, type Json, parseJson, toIsoTime, toList, toText } from './parsing.ts'
import type { VendorSeverity, VendorStatus } from './report.ts'
import { FeedError, type FeedReport, type ReportedComponent, type ReportedIncident } from './report.ts'

/**
 * Parses the summary of a Statuspage (`/api/v2/summary.json`) or of a compatible page: unresolved incidents, components
 * and the overall status. Maintenance is listed separately there and is not an incident. Throws a FeedError.
 */
export function parseStatuspage(text: string): FeedReport {
  const summary = parseJson(text)
  const incidents = getField(summary, 'incidents')
  // some compatible pages have null instead of an empty list
  const isList = Array.isArray(incidents) || incidents === null
  if (!isList || getField(summary, 'page') === undefined) {
    throw new FeedError('the response is not a Statuspage summary: page or incidents is missing')
  }
  return {
    status: STATUS_OF[toText(getField(getField(summary, 'status'), 'indicator')) ?? ''] ?? 'unknown',
    incidents: toList(incidents).flatMap(toIncident),
    components: toList(getField(summary, 'components')).flatMap(toComponent),
  }
}

const STATUS_OF: Record<string, VendorStatus> = {
  none: 'operational',
  maintenance: 'operational',
  minor: 'degraded',
  major: 'down',
  critical: 'down',
}

function toIncident(incident: Json): ReportedIncident[] {
  const title = toText(getField(incident, 'name'))
  const impact = toText(getField(incident, 'impact')) ?? ''
  if (title === null || impact === 'maintenance') return []
  return [
    {
      id: toText(getField(incident, 'id')) ?? title,
      title,
      severity: parseSeverity(impact),
      status: parseStatus(toText(getField(incident, 'status')) ?? '') ?? 'investigating',
      components: toList(getField(incident, 'components')).flatMap(
        component => toText(getField(component, 'name')) ?? [],
      ),
      started_at: toIsoTime(getField(incident, 'started_at')) ?? toIsoTime(getField(incident, 'created_at')),
      resolved_at: toIsoTime(getField(incident, 'resolved_at')),
      updated_at: toIsoTime(getField(incident, 'updated_at')),
      source_url: toText(getField(incident, 'shortlink')) ?? toText(getField(incident, 'url')),
    },
  ]
}

const SEVERITY_OF: Record<string, VendorSeverity> = {
  degraded_performance: 'minor',
  partial_outage: 'major',
  major_outage: 'critical',
  full_outage: 'critical',
}

/** Groups are skipped, because they repeat the status of their members. */
function toComponent(component: Json): ReportedComponent[] {
  const name = toText(getField(component, 'name'))
  if (name === null || getField(component, 'group') === true) return []
  const severity = SEVERITY_OF[toText(getField(component, 'status')) ?? ''] ?? 'none'
  return [{ id: toText(getField(component, 'id')) ?? name, name, severity }]
}
