/** Kinds of access that an admin keeps or ends. A decision is about one, all of a kind, or everything. */
export const ACCESS_KINDS = ['key', 'member', 'session'] as const
export type AccessKind = (typeof ACCESS_KINDS)[number]

export type AccessDecision = {
  organizationId: string
  kinds: readonly AccessKind[]
  /** null: all of them */
  id: string | null
  keeps: boolean
}
