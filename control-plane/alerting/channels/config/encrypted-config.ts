import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { EncryptedColumn } from '../../../foundation/platform/crypto/reencrypt.ts'

type ChannelRef = { id: string; projectId: string }

const buildBinding = (owner: ChannelRef, column: 'config' | 'secret') =>
  `${owner.projectId}:channel:${owner.id}:${column}`

/** The encrypted columns of a table of channels, for a change of the key. */
export const listEncryptedColumns = (table: 'alert_channels' | 'page_subscribers'): EncryptedColumn[] =>
  (
    [
      ['config', 'config'],
      ['signing_secret', 'secret'],
    ] as const
  ).map(([column, name]) => ({
    table,
    column,
    key: ['id'],
    needs: ['project_id'],
    getBinding: row => buildBinding({ id: row.id!, projectId: row.project_id! }, name),
  }))
export const ENCRYPTED_CHANNEL_COLUMNS = listEncryptedColumns('alert_channels')

export function encryptConfig(config: object, owner: ChannelRef, secrets: SecretCipher): Buffer {
  return secrets.encrypt(JSON.stringify(config), buildBinding(owner, 'config'))
}

export function decryptConfig(
  channel: ChannelRef & { config: Buffer },
  secrets: SecretCipher,
): Record<string, unknown> {
  return JSON.parse(secrets.decrypt(channel.config, buildBinding(channel, 'config'))) as Record<string, unknown>
}

export function encryptSigningSecret(signingSecret: string, owner: ChannelRef, secrets: SecretCipher): Buffer {
  return secrets.encrypt(signingSecret, buildBinding(owner, 'secret'))
}

/** Returns `whsec_…`, or null for a channel that does not sign. */
export function decryptSigningSecret(
  channel: ChannelRef & { signingSecret: Buffer | null },
  secrets: SecretCipher,
): string | null {
  return channel.signingSecret === null ? null : secrets.decrypt(channel.signingSecret, buildBinding(channel, 'secret'))
}
