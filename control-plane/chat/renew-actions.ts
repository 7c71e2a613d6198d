import type { Log } from '../../shared/log.ts'
import { isPassing } from '../channels/chat-answer.ts'
import { openChatTokens, sealChatTokens } from '../channels/chat-tokens.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { alone } from './alone.ts'
import { claimRenewals } from './due-store.ts'
import { readToken } from './grant.ts'
import { lifeOf, type StoredInstallation } from './installation.ts'
import { callProvider, type Provider } from './provider-reader.ts'
import type { ChatSettings } from './settings.ts'
import { markRevoked, storeRenewed } from './store.ts'

export type RenewTools = { db: Db; secrets: Secrets; provider: Provider; settings: ChatSettings | null; log: Log }

/** Longer than a call takes. A provider that is away is asked again after it. */
const LEASE_MS = 30_000

/** Renews the tokens that end soon, or were refused as expired. Each is used once: whoever claims it is alone. */
export async function renewTokens({ settings, ...tools }: RenewTools, now: Date): Promise<void> {
  if (!settings) return
  const claimed = await claimRenewals(tools.db, new Date(now.getTime() + LEASE_MS), now)
  for (const installation of claimed) {
    await alone(tools.log, installation.id, () => renew({ settings, ...tools }, installation, now))
  }
}

async function renew(
  { db, secrets, provider, settings }: RenewTools & { settings: ChatSettings },
  installation: StoredInstallation,
  now: Date,
): Promise<void> {
  const { id, tokens } = installation
  const { refreshToken } = openChatTokens(tokens, installation, secrets)
  if (refreshToken === null) return markRevoked(db, id, tokens, now)
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const answer = await callProvider(provider, 'oauth.v2.access', { as: settings, fields })
  const renewed = answer.ok ? readToken(answer.fields) : null
  if (renewed === null) {
    // the app's own settings may be wrong: that is no reason to give a team up
    const isOver = !answer.ok && !isPassing(answer.reason) && answer.reason === 'invalid_refresh_token'
    return isOver ? markRevoked(db, id, tokens, now) : undefined
  }
  const { expiresInSeconds, ...own } = renewed
  const sealed = sealChatTokens(own, installation, secrets)
  await storeRenewed(db, { id, tokens: sealed, ...lifeOf(expiresInSeconds, now) }, tokens, now)
}
