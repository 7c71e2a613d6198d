/** What an admin decides about: one key, session or member, all of a kind, or everything. */
export const KINDS = ['key', 'member', 'session'] as const
export type Kind = (typeof KINDS)[number]

export type Choice = {
  organizationId: string
  kinds: readonly Kind[]
  /** null: all of them */
  id: string | null
  keeps: boolean
}
