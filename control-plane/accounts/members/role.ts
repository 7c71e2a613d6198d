import type { Scope } from '../../foundation/web/auth/authentication.ts'

export const MEMBER_ROLES = ['admin', 'editor', 'viewer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** What a member may do, in the words of API keys (decisions 2.7). */
export const ROLE_SCOPES: Record<MemberRole, Scope> = { admin: 'admin', editor: 'write', viewer: 'read' }
