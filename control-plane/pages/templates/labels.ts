import type { IncidentStatus, Severity } from '../../verdict/incidents/lifecycle.ts'
import type { DisplayStatus, MaintenanceView, OverallStatus } from '../core/types.ts'

/** A status as one letter: its class in pages and the id of its icon. */
export type StatusLetter = 'o' | 'd' | 'x' | 'm' | 'u'

export const STATUS_LETTERS: Record<DisplayStatus | OverallStatus, StatusLetter> = {
  operational: 'o',
  degraded: 'd',
  partial_outage: 'x',
  outage: 'x',
  maintenance: 'm',
  unknown: 'u',
}

/** The indicator of the overall status in the format of Statuspage. */
export const STATUS_INDICATORS: Record<OverallStatus, string> = {
  operational: 'none',
  degraded: 'minor',
  partial_outage: 'major',
  outage: 'critical',
  maintenance: 'maintenance',
  unknown: 'none',
}

export const STATUS_LABELS: Record<DisplayStatus, string> = {
  operational: 'Operational',
  degraded: 'Degraded',
  outage: 'Outage',
  maintenance: 'Maintenance',
  unknown: 'Unknown',
}

/** The label of a day; `unknown` is "No data". */
export const DAY_LABELS: Record<DisplayStatus, string> = { ...STATUS_LABELS, unknown: 'No data' }

export const INCIDENT_LABELS: Record<IncidentStatus, string> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
}

export const SEVERITY_LABELS: Record<Severity, string> = {
  minor: 'Minor incident',
  major: 'Major incident',
  critical: 'Critical incident',
}

export const SEVERITY_LETTERS: Record<Severity, StatusLetter> = { minor: 'd', major: 'x', critical: 'x' }

/** 99.987 as "99.98": truncated, never rounded up, so that 100 means no downtime at all. */
export function formatPercent(percent: number): string {
  const cut = Math.floor(percent * 100 + 1e-9) / 100
  return cut === 100 ? '100' : cut.toFixed(2)
}

/** How many components of an incident or of maintenance are named. */
export const MAX_NAMED_COMPONENTS = 20

/** "API, Shop": at most 20 names, then "and 480 more". */
export function formatComponentNames({ componentNames, componentCount }: AffectedComponents): string {
  const named = componentNames.slice(0, MAX_NAMED_COMPONENTS)
  const more = Math.max(componentNames.length, componentCount ?? 0) - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

type AffectedComponents = Pick<MaintenanceView, 'componentNames' | 'componentCount'>
