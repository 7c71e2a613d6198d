import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../foundation/platform/crypto/reencrypt.ts'

/** What the provider of a team chat gave us for a team. `refreshToken` null: its tokens do not expire. */
export type ChatTokens = { accessToken: string; refreshToken: string | null }

type InstallationRef = { id: string; projectId: string }

const buildBinding = ({ id, projectId }: InstallationRef) => `${projectId}:chat:${id}:tokens`

/** Of installations, and of those that the provider has still to end, for a new key. */
export const ENCRYPTED_CHAT_TOKEN_COLUMNS: EncryptedColumn[] = ['chat_installations', 'chat_revocations'].map(
  table => ({
    table,
    column: 'tokens',
    key: ['id'],
    needs: ['project_id'],
    bindingOf: row => buildBinding({ id: row.id!, projectId: row.project_id! }),
  }),
)

/** Bound to the installation. */
export const encryptChatTokens = (tokens: ChatTokens, owner: InstallationRef, secrets: SecretCipher): Buffer =>
  secrets.encrypt(JSON.stringify(tokens), buildBinding(owner))

export const decryptChatTokens = (sealed: Buffer, owner: InstallationRef, secrets: SecretCipher): ChatTokens =>
  JSON.parse(secrets.decrypt(sealed, buildBinding(owner))) as ChatTokens
