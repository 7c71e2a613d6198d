import { lockApiKeyForShare } from '../../../accounts/api-keys/store.ts'
import { isOpenSession } from '../../../accounts/sessions/store.ts'
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
import { claimOnce, listTeamInstallations, saveInstallation } from './installation-store.ts'
import { dropRevocationsOfTeam } from './revocation-store.ts'
import { SCOPES } from './scopes.ts'

export type InstallTools = {
  db: Db
  secrets: SecretCipher
  provider: Provider
  /** null: the operator has set up no app */
  settings: ChatSettings | null
  publicUrl: string
  /** signs states */
  sign: Signer
}

const callbackUrl = (publicUrl: string) => `${publicUrl}/api/v1/chat/oauth/callback`

/**
 * The consent screen for the caller's project. Throws 404 without an app, 400 for a page that is not ours, and 409 for a
 * key whose maker is gone: an installation is somebody's.
 */
export function beginInstall(
  { settings, publicUrl, sign }: InstallTools,
  caller: ApiCaller,
  redirectTo: string | undefined,
  now: Date,
): string {
  if (!settings) throw appNotConfiguredError()
  const { projectId, userId } = caller
  if (userId === null) throw conflict('the account that made this key is gone; use a key of somebody who is a member')
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

/** What the provider sends back with the person. */
export type OAuthCallback = { code?: string; state?: string; error?: string }

/** What a person is told of an installation before they end it: who began it, and for what. */
export type PendingInstall = Installer & { userId: string; projectId: string; needsEditor: boolean }

/** Reads a state without using it up. Throws 400 like finishInstall, and 404 without an app. */
export async function loadPendingInstall(
  { settings, db, sign }: InstallTools,
  sent: string,
  now: Date,
): Promise<PendingInstall> {
  if (!settings) throw appNotConfiguredError()
  const state = verifyState(sent, sign, now)
  const beginner = await findInstaller(db, state.projectId, state.userId)
  if (!beginner) throw installerError()
  const { userId, projectId, needsEditor = false } = state
  return { ...beginner, userId, projectId, needsEditor }
}

/** Where a person goes after an installation, and which team has the app now. */
export type InstallResult = { landing: string; teamName: string }

/**
 * Ends what beginInstall began: exchanges the code and stores the installation. `editor`: the signed-in editor or admin
 * who confirmed it, if there is one. Throws 404 without an app, 400 for a state or a code that does not count (any more),
 * 403 for what a read key began and no editor confirmed, 409 for a team of another project, and 503 when the provider
 * cannot be asked or understood.
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
  const beginner = await findMember(db, state.projectId, state.userId)
  if (!beginner || !(await isStillAuthorized(db, state, beginner))) throw installerError()
  const person = editor ?? beginner
  const fields = { code: returned.code, redirect_uri: callbackUrl(publicUrl) }
  const answer = await callProvider(provider, 'oauth.v2.access', { as: settings, fields })
  if (!answer.ok) throw codeRejectedError(answer)
  const grant = parseGrant(answer.fields)
  if (!grant) throw await rejectGrant(tools, answer.fields)
  const actor = { kind: 'user' as const, id: person.userId, name: person.email }
  const acting = { ...actor, ip, projectId: state.projectId, organizationId: person.organizationId }
  const mayStore = (tx: Tx) => isStillAuthorized(tx, state, beginner)
  await storeGrant(
    { ...tools, db: withAuditActor(db, acting) },
    { ...state, userId: person.userId },
    grant,
    mayStore,
    now,
  )
  return { landing: state.redirectTo, teamName: grant.teamName }
}

const NEEDS_EDITOR =
  'a read key began this installation; open this address in a browser in which an editor or admin of the project is signed in'

/** What cannot be used is given back, as far as it is a whole organization's: a team's may be another project's, too. */
async function rejectGrant({ provider }: InstallTools, fields: Record<string, unknown>): Promise<ApiError> {
  if (fields.is_enterprise_install !== true) return incompleteGrantError()
  const token = parseToken(fields)?.accessToken
  if (token) await callProvider(provider, 'auth.revoke', { as: { token } })
  return organizationInstallError()
}

/** Throws 400 for a state that we did not give out, that is too old, or that was used. */
async function consumeState({ db, sign }: InstallTools, sent: string, now: Date): Promise<InstallState> {
  const state = verifyState(sent, sign, now)
  const isFirst = await claimOnce(db, sha256(`state ${state.id}`), new Date(state.expiresAtMs))
  if (!isFirst) throw stateError('was used before')
  return state
}

function verifyState(sent: string, sign: Signer, now: Date): InstallState {
  const state = decodeState(sent, sign, equalSecrets, now.getTime())
  if (state === 'forged') throw stateError('is not one of ours')
  if (state === 'expired') throw stateError('is older than 10 minutes')
  return state
}

const installerError = () =>
  stateError('belongs to an account, an API key or a session that may not install anything here any more')

const stateError = (why: string) =>
  validationError([{ path: 'state', message: `state ${why}; begin the installation again` }])

/** The key works, or the session is still there: the owner of the address may have ended others' access meanwhile. */
async function isStillAuthorized(
  db: Db | Tx,
  { keyId, sessionId }: InstallState,
  { organizationId }: Member,
): Promise<boolean> {
  if (keyId !== undefined) return (await lockApiKeyForShare(db, keyId))?.isSuspended === false
  return sessionId === undefined || isOpenSession(db, sessionId, organizationId)
}

async function storeGrant(
  tools: InstallTools,
  { projectId, userId }: InstallState,
  grant: Grant,
  mayStore: (tx: Tx) => Promise<boolean>,
  now: Date,
) {
  const { db, secrets } = tools
  const { teamId, teamName, scopes, accessToken, refreshToken } = grant
  try {
    await db.transaction(async tx => {
      // asking the provider took its time
      if (!(await mayStore(tx))) throw installerError()
      const known = await listTeamInstallations(tx, teamId)
      if (known.some(one => one.projectId !== projectId && one.revokedAt === null)) throw teamTakenError(teamName)
      const before = known.find(one => one.projectId === projectId)
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

/** Channels are locked before their installation, as everywhere. A second default channel is never made. */
async function saveInstallationAndChannel(
  tx: Tx,
  installation: StoredInstallation,
  { teamId, channel }: Grant,
  secrets: SecretCipher,
  now: Date,
): Promise<void> {
  const before = await lockDefaultChannel(tx, installation)
  await saveInstallation(tx, installation)
  await dropRevocationsOfTeam(tx, teamId)
  if (channel) await saveDefaultChannel(tx, installation, { before, chosen: channel }, secrets, now)
  await execute(tx, `SELECT pg_notify('chat', '')`)
}

const teamTakenError = (teamName: string) =>
  conflict(`${teamName} is connected to another project; end the installation there first`)
