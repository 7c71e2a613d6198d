import { decryptChatTokens } from '../../../alerting/channels/chat-tokens.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/** In whose name the provider is called for a team: its bot's. */
export const getBotAuth = (
  installation: { id: string; projectId: string; tokens: Buffer },
  secrets: SecretCipher,
): { token: string } => ({ token: decryptChatTokens(installation.tokens, installation, secrets).accessToken })
