import type { Log } from '../../../../shared/process/log.ts'
import { isTransient } from '../../../alerting/channels/chat-api-response.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { getBotAuth } from '../provider/bot-token.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import { deleteInstallation } from './installation-store.ts'
import {
  claimRevocations,
  dropRevocation,
  postponeRevocation,
  queueRevocation,
  type Revocation,
} from './revocation-store.ts'
import { tryInstallation } from './try-installation.ts'

type RevokeTools = { db: Db; secrets: SecretCipher; provider: Provider }

/** Longer than one call takes. After it, another process retries. */
const LEASE_MS = 30_000
const BATCH_SIZE = 20
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

/** Revokes the grants that are due. Failed revocations are retried later. */
export async function revokeDue(tools: RevokeTools & { log: Log }, now: Date): Promise<void> {
  const due = await claimRevocations(tools.db, { now, leaseMs: LEASE_MS, limit: BATCH_SIZE })
  for (const revocation of due) await tryInstallation(tools.log, revocation.id, () => revoke(tools, revocation, now))
}

/** Throws when the request cannot be made, for example because the tokens cannot be decrypted. This is a failure as well. */
async function revoke({ db, secrets, provider }: RevokeTools, revocation: Revocation, now: Date): Promise<void> {
  try {
    const answer = await callProvider(provider, 'auth.revoke', { as: getBotAuth(revocation, secrets) })
    // a permanent refusal means that the grant does not exist any more
    if (answer.ok || !isTransient(answer.reason) || answer.reason === 'token_expired')
      await dropRevocation(db, revocation.id)
    else await countFailure(db, revocation, answer.retryAfterMs ?? 0, now)
  } catch (error) {
    await countFailure(db, revocation, 0, now)
    throw error
  }
}

/** Sets the next attempt, or gives up. */
async function countFailure(db: Db, { id, failures }: Revocation, retryAfterMs: number, now: Date): Promise<void> {
  if (failures >= MAX_FAILURES) return void (await dropRevocation(db, id))
  const waitMs = Math.max(retryAfterMs, Math.min(FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS))
  await postponeRevocation(db, id, new Date(now.getTime() + waitMs))
}
