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

/** The default channel that an installation has already, locked; null when there is none (any more). */
export async function lockDefaultChannel(tx: Tx, installation: StoredInstallation): Promise<StoredChannel | null> {
  const { projectId, defaultChannelId: id } = installation
  return id === null ? null : lockChannel(tx, projectId, id)
}

type Choice = { before: StoredChannel | null; chosen: NonNullable<Grant['channel']> }

/**
 * The alert channel for what was chosen on the consent screen (specification, "Team-chat app install"): the one from
 * the installation before, active again and by its new name where nobody gave it another, or a new one that new
 * monitors are linked to.
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
  const sealed = { config: encryptConfig(config, owner, secrets), chatInstallationId: installation.id }
  const told = { ...sealed, ...unpaused, updatedAt: now }
  const name = formatChannelName(chosen.name, installation)
  if (before) {
    const { channel_name: was } = decryptConfig(before, secrets)
    const isOurs = typeof was === 'string' && before.name === formatChannelName(was, installation)
    return updateChannel(tx, { ...before, ...told, name: isOurs ? name : before.name })
  }
  const kind = { name, type: 'chat_a' as const, signingSecret: null, isDefault: true }
  await insertChannel(tx, { ...owner, ...kind, ...told, createdAt: now })
  await setDefaultChannel(tx, installation.id, owner.id)
}

const formatChannelName = (channelName: string, { teamName }: StoredInstallation) =>
  `${channelName} (${teamName})`.slice(0, 100)
