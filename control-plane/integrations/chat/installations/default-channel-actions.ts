import { toStorableText } from '../../../../shared/storable-text.ts'
import { decryptConfig, encryptConfig } from '../../../alerting/channels/config/encrypted-config.ts'
import {
  insertChannel,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../../../alerting/routing/alert-channels/store.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import type { Grant } from './grant.ts'
import type { StoredInstallation } from './installation.ts'
import { setDefaultChannel } from './installation-store.ts'

/** Finds and locks the default channel of an installation; null when there is none. */
export async function lockDefaultChannel(tx: Tx, installation: StoredInstallation): Promise<StoredChannel | null> {
  const { projectId, defaultChannelId: id } = installation
  return id === null ? null : lockChannel(tx, projectId, id)
}

type Choice = { before: StoredChannel | null; chosen: NonNullable<Grant['channel']> }

/**
 * Saves the alert channel for the chat channel that was chosen on the consent screen: the default channel of the earlier
 * installation, resumed and with its new name unless a user renamed it, or a new default channel.
 */
export async function saveDefaultChannel(
  tx: Tx,
  installation: StoredInstallation,
  { before, chosen }: Choice,
  secrets: SecretCipher,
  now: Date,
): Promise<void> {
  const { projectId } = installation
  const owner = { id: before?.id ?? newId(), projectId }
  const config = { installation_id: installation.id, channel_id: chosen.id, channel_name: chosen.name }
  const unpaused = { isPaused: false, pausedAt: null, pausedReason: null, consecutiveFailures: 0 }
  const encrypted = { config: encryptConfig(config, owner, secrets), chatInstallationId: installation.id }
  const settings = { ...encrypted, ...unpaused, updatedAt: now }
  const name = formatChannelName(chosen.name, installation)
  if (before) {
    const { channel_name: oldName } = decryptConfig(before, secrets)
    const isGenerated = typeof oldName === 'string' && before.name === formatChannelName(oldName, installation)
    return updateChannel(tx, { ...before, ...settings, name: isGenerated ? name : before.name })
  }
  const kind = { name, type: 'chat_a' as const, signingSecret: null, isDefault: true }
  await insertChannel(tx, { ...owner, ...kind, ...settings, createdAt: now })
  await setDefaultChannel(tx, installation.id, owner.id)
}

const formatChannelName = (channelName: string, { teamName }: StoredInstallation) =>
  toStorableText(`${channelName} (${teamName})`, 100)
