import { decryptChatTokens } from '../../../alerting/channels/chat-tokens.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/** Returns the bot token of an installation. */
export const getBotAuth = (
  installation: { id: string; projectId: string; tokens: Buffer },
  secrets: SecretCipher,
): { token: string } => ({ token: decryptChatTokens(installation.tokens, installation, secrets).accessToken })
