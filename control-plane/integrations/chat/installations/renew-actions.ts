import type { Log } from '../../../../shared/process/log.ts'
import { decryptChatTokens, encryptChatTokens } from '../../../alerting/channels/chat-tokens.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import type { ChatSettings } from '../settings.ts'
import { claimRenewals } from './due-store.ts'
import { parseToken } from './grant.ts'
import { computeTokenLifetime, type StoredInstallation } from './installation.ts'
import { markRevoked, saveRenewedTokens } from './installation-store.ts'
import { tryInstallation } from './try-installation.ts'

export type RenewTools = { db: Db; secrets: SecretCipher; provider: Provider; settings: ChatSettings | null; log: Log }

/** Longer than a call takes. A failed renewal is retried after it. */
const LEASE_MS = 30_000
const MAX_RENEWALS = 20

/**
 * Renews tokens that expire soon or were refused as expired, at most 20 of them. A refresh token works once, so renewals are
 * claimed, each directly before its call: a claim of several would end before the last call.
 */
export async function renewTokens({ settings, ...tools }: RenewTools, clockNow: () => Date): Promise<void> {
  if (!settings) return
  for (let i = 0; i < MAX_RENEWALS; i++) {
    const now = clockNow()
    const [installation] = await claimRenewals(tools.db, { now, leaseMs: LEASE_MS, limit: 1 })
    if (!installation) return
    await tryInstallation(tools.log, installation.id, () => renew({ settings, ...tools }, installation, now))
  }
}

async function renew(
  { db, secrets, provider, settings }: RenewTools & { settings: ChatSettings },
  installation: StoredInstallation,
  now: Date,
): Promise<void> {
  const { id, tokens } = installation
  const { refreshToken } = decryptChatTokens(tokens, installation, secrets)
  if (refreshToken === null) return markRevoked(db, installation, now)
  const renewed = await requestNewToken(provider, settings, refreshToken)
  if (renewed === 'failed') return
  if (renewed === 'refused') return markRevoked(db, installation, now)
  const { expiresInSeconds, ...newTokens } = renewed
  const encrypted = encryptChatTokens(newTokens, installation, secrets)
  await saveRenewedTokens(db, { id, tokens: encrypted, ...computeTokenLifetime(expiresInSeconds, now) }, tokens, now)
}

/**
 * Exchanges a refresh token, which works once, for a new token. `refused`: the refresh token is not valid any more; `failed`: a
 * later attempt may succeed.
 */
export async function requestNewToken(
  provider: Provider,
  settings: ChatSettings,
  refreshToken: string,
): Promise<NonNullable<ReturnType<typeof parseToken>> | 'refused' | 'failed'> {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const answer = await callProvider(provider, 'oauth.v2.access', { as: settings, fields })
  // other errors may come from wrong settings of the app and do not end the grant
  if (!answer.ok) return answer.reason === 'invalid_refresh_token' ? 'refused' : 'failed'
  return parseToken(answer.fields) ?? 'failed'
}
