import { insertChannel, lockChannel, type StoredChannel, updateChannel } from '../alerts/channel-store.ts'
import { openConfig, sealConfig } from '../channels/sealed.ts'
import { newId } from '../platform/ids.ts'
import type { Tx } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Grant } from './grant.ts'
import type { StoredInstallation } from './installation.ts'
import { setDefaultChannel } from './store.ts'

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
export async function keepDefaultChannel(
  tx: Tx,
  installation: StoredInstallation,
  { before, chosen }: Choice,
  secrets: Secrets,
  now: Date,
): Promise<void> {
  const { projectId } = installation
  const owner = { id: before?.id ?? newId(), projectId }
  const config = { installation_id: installation.id, channel_id: chosen.id, channel_name: chosen.name }
  const unpaused = { isPaused: false, pausedAt: null, pausedReason: null, consecutiveFailures: 0 }
  const sealed = { config: sealConfig(config, owner, secrets), chatInstallationId: installation.id }
  const told = { ...sealed, ...unpaused, updatedAt: now }
  const name = nameOf(chosen.name, installation)
  if (before) {
    const { channel_name: was } = openConfig(before, secrets)
    const isOurs = typeof was === 'string' && before.name === nameOf(was, installation)
    return updateChannel(tx, { ...before, ...told, name: isOurs ? name : before.name })
  }
  const kind = { name, type: 'chat_a' as const, signingSecret: null, isDefault: true }
  await insertChannel(tx, { ...owner, ...kind, ...told, createdAt: now })
  await setDefaultChannel(tx, installation.id, owner.id)
}

const nameOf = (channelName: string, { teamName }: StoredInstallation) => `${channelName} (${teamName})`.slice(0, 100)
