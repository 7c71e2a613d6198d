import type { Scope } from '../../foundation/web/auth/authentication.ts'

export const MEMBER_ROLES = ['admin', 'editor', 'viewer'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** What each role may do, as a scope of API keys. */
export const ROLE_SCOPES: Record<MemberRole, Scope> = { admin: 'admin', editor: 'write', viewer: 'read' }
