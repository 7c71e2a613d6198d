import type { OperationResponse } from '../../../core/operations.ts'

export type MemberEntry = OperationResponse<'listMembers'>['data'][number]
export type Role = MemberEntry['role']

/** The roles with what each may do. */
export const ROLE_OPTIONS: readonly (readonly [role: Role, name: string])[] = [
  ['viewer', 'Viewer: sees everything'],
  ['editor', 'Editor: changes monitors, alerts and pages'],
  ['admin', 'Admin: also members, keys and the audit log'],
]

/** Why a member has no access yet, or not any more; null for one who has. */
export function describeCondition({
  suspended_at: suspendedAt,
  awaits_proof: awaitsProof,
  is_claimed: isClaimed,
}: MemberEntry): string | null {
  if (suspendedAt !== null) return 'Suspended: no access until an admin decides whether to keep this member.'
  if (awaitsProof) return 'No access yet: this person has not confirmed the email address.'
  if (!isClaimed) return 'Invited: no password is set yet.'
  return null
}
