import { openChatTokens } from '../channels/chat-tokens.ts'
import type { Secrets } from '../platform/secrets.ts'

/** In whose name the provider is called for a team: its bot's. */
export const botOf = (
  installation: { id: string; projectId: string; tokens: Buffer },
  secrets: Secrets,
): { token: string } => ({ token: openChatTokens(installation.tokens, installation, secrets).accessToken })
