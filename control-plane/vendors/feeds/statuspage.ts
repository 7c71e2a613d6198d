import { fieldOf, type Json, listOf, parseJson, textOf, timeOf } from './read.ts'
import type { VendorSeverity, VendorStatus } from './report.ts'
import { FeedError, type FeedReport, type ReportedComponent, type ReportedIncident } from './report.ts'
import { severityOfValue, statusOfValue } from './words.ts'

/**
 * The summary of a Statuspage (`/api/v2/summary.json`), which others speak too: unresolved incidents, components and a
 * word for all. Announced maintenance has a list of its own there and is no incident. Throws a FeedError.
 */
export function parseStatuspage(text: string): FeedReport {
  const summary = parseJson(text)
  const incidents = fieldOf(summary, 'incidents')
  // some who speak it say null for none
  const isList = Array.isArray(incidents) || incidents === null
  if (!isList || fieldOf(summary, 'page') === undefined) {
    throw new FeedError('what came is no summary of a Statuspage: it has no page or no incidents')
  }
  return {
    status: STATUS_OF[textOf(fieldOf(fieldOf(summary, 'status'), 'indicator')) ?? ''] ?? 'unknown',
    incidents: listOf(incidents).flatMap(toIncident),
    components: listOf(fieldOf(summary, 'components')).flatMap(toComponent),
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
  const title = textOf(fieldOf(incident, 'name'))
  const impact = textOf(fieldOf(incident, 'impact')) ?? ''
  if (title === null || impact === 'maintenance') return []
  return [
    {
      id: textOf(fieldOf(incident, 'id')) ?? title,
      title,
      severity: severityOfValue(impact),
      status: statusOfValue(textOf(fieldOf(incident, 'status')) ?? '') ?? 'investigating',
      components: listOf(fieldOf(incident, 'components')).flatMap(one => textOf(fieldOf(one, 'name')) ?? []),
      started_at: timeOf(fieldOf(incident, 'started_at')) ?? timeOf(fieldOf(incident, 'created_at')),
      resolved_at: timeOf(fieldOf(incident, 'resolved_at')),
      updated_at: timeOf(fieldOf(incident, 'updated_at')),
      source_url: textOf(fieldOf(incident, 'shortlink')) ?? textOf(fieldOf(incident, 'url')),
    },
  ]
}

const SEVERITY_OF: Record<string, VendorSeverity> = {
  degraded_performance: 'minor',
  partial_outage: 'major',
  major_outage: 'critical',
  full_outage: 'critical',
}

/** Groups repeat what their members say. */
function toComponent(component: Json): ReportedComponent[] {
  const name = textOf(fieldOf(component, 'name'))
  if (name === null || fieldOf(component, 'group') === true) return []
  const severity = SEVERITY_OF[textOf(fieldOf(component, 'status')) ?? ''] ?? 'none'
  return [{ id: textOf(fieldOf(component, 'id')) ?? name, name, severity }]
}
