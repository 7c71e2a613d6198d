import type { OperationResponse } from '../../../core/operations.ts'
import type { ShownStatus } from '../../../parts/status.tsx'

export type DependencyRecord = OperationResponse<'readDependency'>['data']
export type VendorIncidentRecord = OperationResponse<'listDependencyIncidents'>['data'][number]

/** The status of a vendor as the status of a monitor, which has the same shapes. */
export const toShownStatus = (status: DependencyRecord['status']): ShownStatus =>
  status === 'operational' ? 'up' : status

export const SEVERITY_NAMES: Record<VendorIncidentRecord['severity'], string> = {
  none: 'Information',
  minor: 'Minor',
  major: 'Major',
  critical: 'Critical',
}

/** The names of the incident's states. */
export const STATE_NAMES: Record<VendorIncidentRecord['status'], string> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
}

export const FEED_NAMES = [
  ['statuspage', 'Statuspage, from the address of the page'],
  ['rss', 'RSS'],
  ['atom', 'Atom'],
  ['json', 'JSON with a list of incidents'],
] as const
