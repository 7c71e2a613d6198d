import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../foundation/platform/crypto/reencrypt.ts'

/** Tokens of a chat installation. `refreshToken` null: the tokens do not expire. */
type ChatTokens = { accessToken: string; refreshToken: string | null }

type InstallationRef = { id: string; projectId: string }

const buildBinding = ({ id, projectId }: InstallationRef) => `${projectId}:chat:${id}:tokens`

/** Encrypted columns of installations and pending revocations, for a change of the key. */
export const ENCRYPTED_CHAT_TOKEN_COLUMNS: EncryptedColumn[] = ['chat_installations', 'chat_revocations'].map(
  table => ({
    table,
    column: 'tokens',
    key: ['id'],
    needs: ['project_id'],
    getBinding: row => buildBinding({ id: row.id!, projectId: row.project_id! }),
  }),
)

/** Encrypts tokens, bound to the installation. */
export const encryptChatTokens = (tokens: ChatTokens, owner: InstallationRef, secrets: SecretCipher): Buffer =>
  secrets.encrypt(JSON.stringify(tokens), buildBinding(owner))

export const decryptChatTokens = (encrypted: Buffer, owner: InstallationRef, secrets: SecretCipher): ChatTokens =>
  JSON.parse(secrets.decrypt(encrypted, buildBinding(owner))) as ChatTokens
