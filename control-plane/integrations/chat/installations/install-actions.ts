import { lockApiKeyForShare } from '../../../accounts/api-keys/store.ts'
import { ROLE_SCOPES } from '../../../accounts/members/role.ts'
import { findSessionRole } from '../../../accounts/sessions/store.ts'
import { encryptChatTokens } from '../../../alerting/channels/chat-tokens.ts'
import { equalSecrets, type SecretCipher, sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import type { Signer } from '../../../foundation/platform/crypto/signer.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, isUniqueViolation, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { withAuditActor } from '../../../foundation/web/auth/audit-actor.ts'
import { type ApiCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import { type ApiError, conflict, insufficientScope, validationError } from '../../../foundation/web/server/errors.ts'
import { findInstaller, findMember, type Installer, type Member } from '../people/people-store.ts'
import {
  appNotConfiguredError,
  codeRejectedError,
  incompleteGrantError,
  installDeclinedError,
  organizationInstallError,
} from '../provider/errors.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import type { ChatSettings } from '../settings.ts'
import { lockDefaultChannel, saveDefaultChannel } from './default-channel-actions.ts'
import { type Grant, parseGrant, parseToken } from './grant.ts'
import { decodeState, encodeState, type InstallState, resolveLandingUrl, STATE_TIMEOUT_MS } from './install-state.ts'
import { computeTokenLifetime, type StoredInstallation } from './installation.ts'
import { claimOnce, listTeamInstallations, lockTeam, saveInstallation } from './installation-store.ts'
import { dropRevocationsOfTeam } from './revocation-store.ts'

/** The scopes that the app requests. */
const SCOPES = [
  'chat:write',
  'channels:read',
  'commands',
  'incoming-webhook',
  'users:read',
  'users:read.email',
  'im:write',
]

export type InstallTools = {
  db: Db
  secrets: SecretCipher
  provider: Provider
  /** null: the operator has not configured an app */
  settings: ChatSettings | null
  publicUrl: string
  /** signs states */
  sign: Signer
}

const callbackUrl = (publicUrl: string) => `${publicUrl}/api/v1/chat/oauth/callback`

/**
 * Returns the address of the consent screen for the caller's project. Throws 404 without an app, 400 for a landing page
 * of another origin, and 409 for a key whose creator has left, because an installation belongs to a user.
 */
export function beginInstall(
  { settings, publicUrl, sign }: InstallTools,
  caller: ApiCaller,
  redirectTo: string | undefined,
  now: Date,
): string {
  if (!settings) throw appNotConfiguredError()
  const { projectId, userId } = caller
  if (userId === null)
    throw conflict('the user who created this key is not a member any more; use a key of a current member')
  const landing = resolveLandingUrl(redirectTo, publicUrl)
  if (landing === null) {
    const message = `redirect_to must be a page of ${publicUrl}`
    throw validationError([{ path: 'redirect_to', message }])
  }
  const state: InstallState = {
    ...{ id: newId(), projectId, userId, redirectTo: landing, expiresAtMs: now.getTime() + STATE_TIMEOUT_MS },
    ...(caller.actor.kind === 'api_key' ? { keyId: caller.keyId } : { sessionId: caller.keyId }),
    ...(!hasScope(caller, 'write') && { needsEditor: true }),
  }
  const url = new URL(settings.authorizeUrl)
  url.searchParams.set('client_id', settings.clientId)
  url.searchParams.set('scope', SCOPES.join(','))
  url.searchParams.set('redirect_uri', callbackUrl(publicUrl))
  url.searchParams.set('state', encodeState(state, sign))
  return url.href
}

/** The query with which the provider redirects the user back. */
export type OAuthCallback = { code?: string; state?: string; error?: string }

/** What the confirmation page shows of an installation: who began it, and for which project. */
export type PendingInstall = Installer & { userId: string; projectId: string; needsEditor: boolean }

/** Reads a state without using it. Throws 400 like finishInstall, and 404 without an app. */
export async function loadPendingInstall(
  { settings, db, sign }: InstallTools,
  sent: string,
  now: Date,
): Promise<PendingInstall> {
  if (!settings) throw appNotConfiguredError()
  const state = verifyState(sent, sign, now)
  const installer = await findInstaller(db, state.projectId, state.userId)
  if (!installer) throw installerError()
  const { userId, projectId, needsEditor = false } = state
  return { ...installer, userId, projectId, needsEditor }
}

/** Where the user is redirected after an installation, and the name of the team. */
type InstallResult = { landing: string; teamName: string }

/**
 * Finishes an installation (docs/design/chat.md#installation):
 *
 * 1. Verify the state, and that an editor confirmed the installation if a read key began it.
 * 2. Mark the state as used.
 * 3. Check that the user, key or session that began the installation is still valid.
 * 4. Exchange the code for a grant.
 * 5. In one transaction, check step 3 again and store the installation and its default channel.
 *
 * `editor`: the signed-in editor or admin who confirmed it, if any. Throws 404 without an app, 400 for an invalid state or
 * code, 403 without the required confirmation, 409 for a team of another project, and 503 when the provider is
 * unreachable or its response is invalid.
 */
export async function finishInstall(
  tools: InstallTools,
  returned: OAuthCallback,
  { ip, editor = null }: { ip: string; editor?: Member | null },
  now: Date,
): Promise<InstallResult> {
  const { settings, provider, publicUrl, db } = tools
  if (!settings) throw appNotConfiguredError()
  if (returned.error === undefined && verifyState(returned.state ?? '', tools.sign, now).needsEditor && !editor) {
    throw insufficientScope(NEEDS_EDITOR)
  }
  const state = await consumeState(tools, returned.state ?? '', now)
  if (returned.error !== undefined) throw installDeclinedError(returned.error)
  if (!returned.code) throw validationError([{ path: 'code', message: 'code is required' }])
  const installer = await findMember(db, state.projectId, state.userId)
  if (!installer || !(await isStillAuthorized(db, state, installer))) throw installerError()
  const person = editor ?? installer
  const fields = { code: returned.code, redirect_uri: callbackUrl(publicUrl) }
  const answer = await callProvider(provider, 'oauth.v2.access', { as: settings, fields })
  if (!answer.ok) throw codeRejectedError(answer)
  const grant = parseGrant(answer.fields)
  if (!grant) throw await rejectGrant(tools, answer.fields)
  const actor = { kind: 'user' as const, id: person.userId, name: person.email }
  const acting = { ...actor, ip, projectId: state.projectId, organizationId: person.organizationId }
  const isAuthorized = (tx: Tx) => isStillAuthorized(tx, state, installer)
  await storeGrant(
    { ...tools, db: withAuditActor(db, acting) },
    { ...state, userId: person.userId },
    grant,
    isAuthorized,
    now,
  )
  return { landing: state.redirectTo, teamName: grant.teamName }
}

const NEEDS_EDITOR =
  'this installation was started with a read key; open this address in a browser where an editor or admin of the project is signed in'

/** Revokes a grant for a whole organization. The grant of a team is not revoked, because another project may use it. */
async function rejectGrant({ provider }: InstallTools, fields: Record<string, unknown>): Promise<ApiError> {
  if (fields.is_enterprise_install !== true) return incompleteGrantError()
  const token = parseToken(fields)?.accessToken
  if (token) await callProvider(provider, 'auth.revoke', { as: { token } })
  return organizationInstallError()
}

/** Marks a state as used. Throws 400 for a state that is forged, expired or already used. */
async function consumeState({ db, sign }: InstallTools, sent: string, now: Date): Promise<InstallState> {
  const state = verifyState(sent, sign, now)
  const isFirst = await claimOnce(db, sha256(`state ${state.id}`), new Date(state.expiresAtMs))
  if (!isFirst) throw stateError('has already been used')
  return state
}

function verifyState(sent: string, sign: Signer, now: Date): InstallState {
  const state = decodeState(sent, sign, equalSecrets, now.getTime())
  if (state === 'forged') throw stateError('is invalid')
  if (state === 'expired') throw stateError('has expired')
  return state
}

const installerError = () =>
  stateError('belongs to an account, API key or session that is no longer allowed to install the app')

const stateError = (reason: string) =>
  validationError([{ path: 'state', message: `state ${reason}; start the installation again` }])

/**
 * Whether the key or session that began the installation is still valid: an access review may have ended it. A person needs
 * the role of an editor, unless an editor has confirmed the installation.
 */
async function isStillAuthorized(
  db: Db | Tx,
  { keyId, sessionId, needsEditor }: InstallState,
  { organizationId }: Member,
): Promise<boolean> {
  if (keyId !== undefined) return (await lockApiKeyForShare(db, keyId))?.isSuspended === false
  if (sessionId === undefined) return true
  const role = await findSessionRole(db, sessionId, organizationId)
  return role !== null && (needsEditor === true || hasScope({ scope: ROLE_SCOPES[role] }, 'write'))
}

async function storeGrant(
  tools: InstallTools,
  { projectId, userId }: InstallState,
  grant: Grant,
  isAuthorized: (tx: Tx) => Promise<boolean>,
  now: Date,
) {
  const { db, secrets } = tools
  const { teamId, teamName, scopes, accessToken, refreshToken } = grant
  try {
    await db.transaction(async tx => {
      await lockTeam(tx, teamId)
      // authorization may have ended during the call of the provider
      if (!(await isAuthorized(tx))) throw installerError()
      const known = await listTeamInstallations(tx, teamId)
      if (known.some(installation => installation.projectId !== projectId && installation.revokedAt === null))
        throw teamTakenError(teamName)
      const before = known.find(installation => installation.projectId === projectId)
      const owner = { id: before?.id ?? newId(), projectId }
      const installation: StoredInstallation = {
        ...{ defaultChannelId: null, createdAt: now, ...before, ...owner, teamId, teamName, scopes },
        tokens: encryptChatTokens({ accessToken, refreshToken }, owner, secrets),
        ...computeTokenLifetime(grant.expiresInSeconds, now),
        ...{ installedBy: userId, installedAt: now, revokedAt: null, updatedAt: now },
      }
      await saveInstallationAndChannel(tx, installation, grant, secrets, now)
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw teamTakenError(teamName)
    throw error
  }
}

/**
 * Locks the channel before the installation, as all code does. Never creates a second default channel. The installation and its
 * channel may have been deleted since they were read.
 */
async function saveInstallationAndChannel(
  tx: Tx,
  installation: StoredInstallation,
  { teamId, channel }: Grant,
  secrets: SecretCipher,
  now: Date,
): Promise<void> {
  const before = await lockDefaultChannel(tx, installation)
  await saveInstallation(tx, { ...installation, defaultChannelId: before?.id ?? null })
  await dropRevocationsOfTeam(tx, teamId)
  if (channel) await saveDefaultChannel(tx, installation, { before, chosen: channel }, secrets, now)
  await execute(tx, `SELECT pg_notify('chat', '')`)
}

const teamTakenError = (teamName: string) =>
  conflict(`${teamName} is connected to another project; delete the installation there first`)
