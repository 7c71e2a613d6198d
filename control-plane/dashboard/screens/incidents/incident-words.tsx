import type { IncidentStatus } from '../../../verdict/incidents/lifecycle.ts'
import type { Me } from '../../core/frame-context.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { Shape, type ShownStatus } from '../../parts/status.tsx'

export type Incident = OperationResponse<'listIncidents'>['data'][number]
export type Members = OperationResponse<'listMembers'>['data'] | null

/** In the order in which they usually follow. */
export const STATUS_NAMES: Record<IncidentStatus, string> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
}

/** Worst first. */
export const SEVERITY_NAMES: Record<Incident['severity'], string> = {
  critical: 'Critical',
  major: 'Major',
  minor: 'Minor',
}

const SHAPES: Record<Incident['severity'], ShownStatus> = { critical: 'down', major: 'degraded', minor: 'unknown' }

/** The severity as a shape and a word. It has a colour while the incident is open. */
export const Severity = ({ incident: { severity, status } }: { incident: Pick<Incident, 'severity' | 'status'> }) => (
  <span class={`state ${status === 'resolved' ? 'soft' : SHAPES[severity]}`}>
    <Shape status={SHAPES[severity]} />
    {SEVERITY_NAMES[severity]}
  </span>
)

/** How long an incident lasted, or has lasted until now, in ms. */
export const computeDurationMs = (
  { started_at: from, resolved_at: to }: Pick<Incident, 'started_at' | 'resolved_at'>,
  nowMs: number,
): number => (to === null ? nowMs : Date.parse(to)) - Date.parse(from)

/** The person of a user id: `you`, an email address for those who may see the members, or `a member`. */
export function namePerson(userId: string | null, me: Me, members: Members): string {
  if (userId === null) return 'a person whose account was deleted'
  if (userId === me.user?.id) return 'you'
  return members?.find(({ user_id }) => user_id === userId)?.email ?? 'a member'
}
