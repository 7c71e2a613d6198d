import type { Secrets } from '../platform/secrets.ts'

/** What the provider of a team chat gave us for a team. `refreshToken` null: its tokens do not expire. */
export type ChatTokens = { accessToken: string; refreshToken: string | null }

type Owner = { id: string; projectId: string }

const bindingOf = ({ id, projectId }: Owner) => `${projectId}:chat:${id}:tokens`

/** Bound to the installation. */
export const sealChatTokens = (tokens: ChatTokens, owner: Owner, secrets: Secrets): Buffer =>
  secrets.seal(JSON.stringify(tokens), bindingOf(owner))

export const openChatTokens = (sealed: Buffer, owner: Owner, secrets: Secrets): ChatTokens =>
  JSON.parse(secrets.open(sealed, bindingOf(owner))) as ChatTokens
