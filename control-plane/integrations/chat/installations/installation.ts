import { Type } from 'typebox'
import { Id, nullable, Timestamp } from '../../../foundation/web/validation/schemas.ts'

/** A row of `chat_installations`. `tokens` are encrypted (alerting/channels/chat-tokens.ts). */
export type StoredInstallation = {
  id: string
  projectId: string
  teamId: string
  teamName: string
  scopes: string[]
  tokens: Buffer
  tokenExpiresAt: Date | null
  /** null: the token does not expire */
  renewAt: Date | null
  installedBy: string | null
  installedAt: Date
  /** null: the team has the app */
  revokedAt: Date | null
  defaultChannelId: string | null
  createdAt: Date
  updatedAt: Date
}

/** A chat installation in responses. */
export const InstallationRecord = Type.Object({
  id: Id,
  team_id: Type.String(),
  team_name: Type.String(),
  installed_by: nullable(Type.String({ description: 'Id of the user. Null when that account was deleted.' })),
  installed_at: Timestamp,
  scopes: Type.Array(Type.String()),
  default_channel_id: nullable(Type.String({ description: 'The alert channel that the installation created.' })),
  revoked_at: nullable(
    Type.Unsafe<string>({
      type: 'string',
      format: 'date-time',
      description: 'When the team removed the app. Install it again to reconnect.',
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

/** Tokens are renewed this long before they expire, which leaves time for retries. */
const RENEWAL_LEAD_MS = 2 * 3_600_000

/** Computes when a token expires and when to renew it; both null for a token that does not expire. */
export function computeTokenLifetime(
  expiresInSeconds: number | null,
  now: Date,
): Pick<StoredInstallation, 'tokenExpiresAt' | 'renewAt'> {
  if (expiresInSeconds === null) return { tokenExpiresAt: null, renewAt: null }
  const lifetimeMs = expiresInSeconds * 1_000
  const leadMs = Math.min(RENEWAL_LEAD_MS, lifetimeMs / 2)
  return {
    tokenExpiresAt: new Date(now.getTime() + lifetimeMs),
    renewAt: new Date(now.getTime() + lifetimeMs - leadMs),
  }
}
