import type { Scope } from '../../web/auth.ts'

export const ROLES = ['admin', 'editor', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** What a member may do, in the words of API keys (decisions 2.7). */
export const SCOPE_OF_ROLE: Record<Role, Scope> = { admin: 'admin', editor: 'write', viewer: 'read' }
