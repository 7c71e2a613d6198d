import { newId } from '../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now as clock } from '../../foundation/platform/time/clock.ts'
import { conflict, rateLimited } from '../../foundation/web/server/errors.ts'
import { createApiKey } from '../api-keys/actions.ts'
import { recordAudit, withUserActor } from '../audit/actions.ts'
import type { PlanName } from '../plans/plans.ts'
import { createPasswordLink } from '../sign-in/password-links/actions.ts'
import type { ClientInfo } from './client-info.ts'
import {
  insertOrganization,
  insertRegistrationAttempt,
  insertUser,
  listNetworkAttempts,
  lockNetwork,
  REGISTRATION_WINDOW_MS,
} from './store.ts'

const MAX_ACCOUNTS_PER_HOUR = 3
const MAX_REFUSALS_PER_HOUR = 20
/** How long a claim link works. */
const CLAIM_HOURS = 72

/** `provesEmail`: only the operator sees the link. `organizationId`: of the organization for which the account is created. */
type NewAccount = {
  email: string
  name: string | null
  publicUrl: string
  provesEmail: boolean
  organizationId?: string
}
type AccountRegistration = Omit<NewAccount, 'organizationId'> & { plan: PlanName }

/**
 * Creates a user, an organization, a project, an admin key and a claim link (docs/design/accounts.md#registration). The
 * key works immediately. Throws 409 for an email address that is registered.
 */
export async function createAccount(tx: Tx, { plan, ...account }: AccountRegistration) {
  const organizationId = newId()
  const user = await createUser(tx, { ...account, organizationId })
  if (user === null) throw conflict('this email address is already registered')
  const { userId, claimUrl } = user
  const organization = { organizationId, projectId: newId(), userId, plan, now: clock() }
  await insertOrganization(tx, { ...organization, name: account.name ?? user.email, projectName: 'Default' })
  const { key } = await createApiKey(tx, organization, { name: 'First key', scope: 'admin' })
  return {
    api_key: key,
    organization_id: organization.organizationId,
    user_id: userId,
    email: user.email,
    claim_url: claimUrl,
    claim_expires_in: `${CLAIM_HOURS}h`,
    dashboard_url: `${account.publicUrl}/`,
    message: 'The API key works now and is not shown again. Open the claim link to set a password.',
  }
}

/** Creates a user who can claim the account by a link. Returns null for an email address that is registered. */
export async function createUser(
  tx: Tx,
  { email: written, name, ...link }: NewAccount,
): Promise<{ userId: string; email: string; claimUrl: string } | null> {
  const [userId, email] = [newId(), written.toLowerCase()]
  const isNew = await insertUser(tx, { userId, email, name, now: clock() })
  return isNew
    ? {
        userId,
        email,
        claimUrl: await createPasswordLink(tx, userId, { purpose: 'claim', fromOperator: link.provesEmail, ...link }),
      }
    : null
}

/** `createAccount` for the public: 3 accounts an hour for each network, counted over all processes. */
export async function registerAccount(db: Db, visitor: ClientInfo, registration: AccountRegistration) {
  const { network } = visitor
  return db.transaction(async tx => {
    const now = clock()
    await lockNetwork(tx, network)
    await assertBelowLimit(tx, network, true, MAX_ACCOUNTS_PER_HOUR, now)
    await assertBelowLimit(tx, network, false, MAX_REFUSALS_PER_HOUR, now)
    const account = await createAccount(tx, registration)
    await recordCreation(tx, visitor, account, registration.name ?? account.email)
    await insertRegistrationAttempt(tx, network, true, now)
    return account
  })
}

type CreatedAccount = { user_id: string; email: string; organization_id: string }

/** Writes the first entry of the new organization's audit log. */
function recordCreation(
  tx: Tx,
  { ip }: ClientInfo,
  { user_id: id, email, organization_id }: CreatedAccount,
  name: string,
) {
  const what = { resource: 'organization', resourceId: organization_id, resourceName: name }
  return withUserActor(tx, { id, email }, ip, organization_id).transaction(acted =>
    recordAudit(acted, { action: 'created', ...what }),
  )
}

/** Counts an attempt that was answered with 400 or 409. Throws 429 after 20 of them in an hour. */
export async function countRefusedAttempt(db: Db, network: string): Promise<void> {
  await db.transaction(async tx => {
    const now = clock()
    await lockNetwork(tx, network)
    await assertBelowLimit(tx, network, false, MAX_REFUSALS_PER_HOUR, now)
    await insertRegistrationAttempt(tx, network, false, now)
  })
}

async function assertBelowLimit(tx: Tx, network: string, created: boolean, most: number, now: Date): Promise<void> {
  const attempts = await listNetworkAttempts(tx, network, created, now)
  const freeing = attempts[most - 1]
  if (!freeing) return
  const waitMs = freeing.getTime() + REGISTRATION_WINDOW_MS - now.getTime()
  const what = created ? 'accounts' : 'refused attempts'
  throw rateLimited(
    `at most ${most} ${what} an hour are allowed from one address`,
    Math.max(1, Math.ceil(waitMs / 1_000)),
  )
}
