import { Type } from 'typebox'
import { Id, nullable, Timestamp } from '../../../foundation/web/validation/schemas.ts'

/** A row of `chat_installations`. `tokens` are sealed (channels/chat-tokens.ts). */
export type StoredInstallation = {
  id: string
  projectId: string
  teamId: string
  teamName: string
  scopes: string[]
  tokens: Buffer
  tokenExpiresAt: Date | null
  /** null: nothing is to be renewed */
  renewAt: Date | null
  installedBy: string | null
  installedAt: Date
  /** null: the team has the app */
  revokedAt: Date | null
  defaultChannelId: string | null
  createdAt: Date
  updatedAt: Date
}

/** The specification's "Chat installation". */
export const InstallationRecord = Type.Object({
  id: Id,
  team_id: Type.String(),
  team_name: Type.String(),
  installed_by: nullable(Type.String({ description: 'user id; null when that account is gone' })),
  installed_at: Timestamp,
  scopes: Type.Array(Type.String()),
  default_channel_id: nullable(Type.String({ description: 'the alert channel made at the installation' })),
  revoked_at: nullable(
    Type.Unsafe<string>({
      type: 'string',
      format: 'date-time',
      description: 'the team removed the app; install it again',
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export function toInstallationResponse(installation: StoredInstallation) {
  return {
    id: installation.id,
    team_id: installation.teamId,
    team_name: installation.teamName,
    installed_by: installation.installedBy,
    installed_at: installation.installedAt.toISOString(),
    scopes: installation.scopes,
    default_channel_id: installation.defaultChannelId,
    revoked_at: installation.revokedAt?.toISOString() ?? null,
    created_at: installation.createdAt.toISOString(),
    updated_at: installation.updatedAt.toISOString(),
  }
}

/** Tokens are renewed so long before they end: several tries of a provider that is away. */
const RENEWAL_LEAD_MS = 2 * 3_600_000

/** When a token ends, and when it is to be renewed; both null for one that does not expire. */
export function computeTokenLifetime(
  expiresInSeconds: number | null,
  now: Date,
): Pick<StoredInstallation, 'tokenExpiresAt' | 'renewAt'> {
  if (expiresInSeconds === null) return { tokenExpiresAt: null, renewAt: null }
  const lifeMs = expiresInSeconds * 1_000
  const aheadMs = Math.min(RENEWAL_LEAD_MS, lifeMs / 2)
  return {
    tokenExpiresAt: new Date(now.getTime() + lifeMs),
    renewAt: new Date(now.getTime() + lifeMs - aheadMs),
  }
}
