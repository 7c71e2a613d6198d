import type { Log } from '../../../../shared/process/log.ts'
import { isTransient } from '../../../alerting/channels/chat-api-response.ts'
import { decryptChatTokens, encryptChatTokens } from '../../../alerting/channels/chat-tokens.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import type { ChatSettings } from '../settings.ts'
import { deleteInstallation, listTeamInstallations } from './installation-store.ts'
import { requestNewToken } from './renew-actions.ts'
import {
  claimRevocations,
  dropRevocation,
  postponeRevocation,
  queueRevocation,
  type Revocation,
  saveRevocationTokens,
} from './revocation-store.ts'
import { tryInstallation } from './try-installation.ts'

type RevokeTools = { db: Db; secrets: SecretCipher; provider: Provider; settings: ChatSettings | null }

/** Longer than the calls for one grant take. After it, another process retries. */
const LEASE_MS = 30_000
const MAX_REVOCATIONS = 20
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 6 * 3_600_000
/** About two weeks. After that, the team has to remove the app itself. */
const MAX_FAILURES = 60

/**
 * Deletes an installation and its channels, and revokes its grant now or, if the provider is unreachable, later. Identity
 * links stay. Throws 404.
 */
export async function removeInstallation(tools: RevokeTools, projectId: string, id: string, now: Date): Promise<void> {
  const revocation = await tools.db.transaction(async tx => {
    const installation = found(isId(id) && (await deleteInstallation(tx, projectId, id, now)), 'chat installation')
    if (installation.revokedAt !== null) return null
    await queueRevocation(tx, installation, new Date(now.getTime() + LEASE_MS), now)
    return { ...installation, failures: 0 }
  })
  // the installation is deleted in any case; the worker retries the revocation and logs the error
  if (revocation) await revoke(tools, revocation, now).catch(() => {})
}

/**
 * Revokes grants that are due, at most 20 of them. Each is claimed directly before its call, because its team may install again
 * during the calls before. Failed revocations are retried later.
 */
export async function revokeDue(tools: RevokeTools & { log: Log }, clockNow: () => Date): Promise<void> {
  for (let i = 0; i < MAX_REVOCATIONS; i++) {
    const now = clockNow()
    const [revocation] = await claimRevocations(tools.db, { now, leaseMs: LEASE_MS, limit: 1 })
    if (!revocation) return
    await tryInstallation(tools.log, revocation.id, () => revoke(tools, revocation, now))
  }
}

/** Throws when the request cannot be made, for example because the tokens cannot be decrypted. This is a failure as well. */
async function revoke(tools: RevokeTools, revocation: Revocation, now: Date): Promise<void> {
  const { db, secrets } = tools
  try {
    const installations = await listTeamInstallations(db, revocation.teamId)
    // a team that installed again may have got the same grant
    const isInUse = installations.some(({ revokedAt }) => revokedAt === null)
    if (isInUse) return void (await dropRevocation(db, revocation.id))
    const { accessToken, refreshToken } = decryptChatTokens(revocation.tokens, revocation, secrets)
    const result = await requestRevocation(tools, accessToken)
    const final =
      result.isExpired && refreshToken !== null ? await renewAndRevoke(tools, revocation, refreshToken) : result
    if (final.isEnded) await dropRevocation(db, revocation.id)
    else await countFailure(db, revocation, final.retryAfterMs, now)
  } catch (error) {
    await countFailure(db, revocation, 0, now)
    throw error
  }
}

/** `isExpired`: the token has expired, which ends the grant unless it can be renewed. */
type RevocationResult = { isEnded: boolean; isExpired?: boolean; retryAfterMs: number }
const ENDED: RevocationResult = { isEnded: true, retryAfterMs: 0 }
const FAILED: RevocationResult = { isEnded: false, retryAfterMs: 0 }

async function requestRevocation({ provider }: RevokeTools, token: string): Promise<RevocationResult> {
  const answer = await callProvider(provider, 'auth.revoke', { as: { token } })
  if (answer.ok) return ENDED
  if (answer.reason === 'token_expired') return { ...ENDED, isExpired: true }
  // a permanent refusal means that the grant does not exist any more
  return { isEnded: !isTransient(answer.reason), retryAfterMs: answer.retryAfterMs ?? 0 }
}

/** Stores the new token before it is used, because a refresh token works once. */
async function renewAndRevoke(tools: RevokeTools, revocation: Revocation, refreshToken: string) {
  const { db, secrets, provider, settings } = tools
  if (!settings) return ENDED
  const renewed = await requestNewToken(provider, settings, refreshToken)
  if (typeof renewed === 'string') return renewed === 'refused' ? ENDED : FAILED
  const { accessToken, refreshToken: next } = renewed
  await saveRevocationTokens(
    db,
    revocation.id,
    encryptChatTokens({ accessToken, refreshToken: next }, revocation, secrets),
  )
  return requestRevocation(tools, accessToken)
}

/** Sets the next attempt, or gives up. */
async function countFailure(db: Db, { id, failures }: Revocation, retryAfterMs: number, now: Date): Promise<void> {
  if (failures >= MAX_FAILURES) return void (await dropRevocation(db, id))
  const waitMs = Math.max(retryAfterMs, Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS))
  await postponeRevocation(db, id, new Date(now.getTime() + waitMs))
}
