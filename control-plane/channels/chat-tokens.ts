import type { SealedColumn } from '../platform/reseal.ts'
import type { Secrets } from '../platform/secrets.ts'

/** What the provider of a team chat gave us for a team. `refreshToken` null: its tokens do not expire. */
export type ChatTokens = { accessToken: string; refreshToken: string | null }

type Owner = { id: string; projectId: string }

const bindingOf = ({ id, projectId }: Owner) => `${projectId}:chat:${id}:tokens`

/** Of installations, and of those that the provider has still to end, for a new key. */
export const SEALED_CHAT_TOKENS: SealedColumn[] = ['chat_installations', 'chat_revocations'].map(table => ({
  table,
  column: 'tokens',
  key: ['id'],
  needs: ['project_id'],
  bindingOf: row => bindingOf({ id: row.id!, projectId: row.project_id! }),
}))

/** Bound to the installation. */
export const sealChatTokens = (tokens: ChatTokens, owner: Owner, secrets: Secrets): Buffer =>
  secrets.seal(JSON.stringify(tokens), bindingOf(owner))

export const openChatTokens = (sealed: Buffer, owner: Owner, secrets: Secrets): ChatTokens =>
  JSON.parse(secrets.open(sealed, bindingOf(owner))) as ChatTokens
