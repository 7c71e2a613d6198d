import { holdKey } from '../accounts/api-keys/store.ts'
import { isOpenSession } from '../accounts/sessions/store.ts'
import { sealChatTokens } from '../channels/chat-tokens.ts'
import { newId } from '../platform/ids.ts'
import { type Db, execute, isUniqueViolation, type Tx } from '../platform/postgres.ts'
import { equalSecrets, type Secrets, sha256 } from '../platform/secrets.ts'
import type { Sign } from '../platform/signer.ts'
import { actingFor } from '../web/acting.ts'
import { type Caller, isAllowed } from '../web/auth.ts'
import { type ApiError, conflict, insufficientScope, validationError } from '../web/errors.ts'
import { keepDefaultChannel, lockDefaultChannel } from './default-channel-actions.ts'
import { type Grant, readGrant, readToken } from './grant.ts'
import { lifeOf, type StoredInstallation } from './installation.ts'
import { type Beginner, findBeginner, findMember, type Member } from './people-store.ts'
import { callProvider, type Provider } from './provider-reader.ts'
import { declined, noApp, refusedCode, unusableAnswer, wholeOrganization } from './refusals.ts'
import { dropRevocationsOfTeam } from './revocation-store.ts'
import { SCOPES } from './scopes.ts'
import type { ChatSettings } from './settings.ts'
import { type InstallState, landingOf, readState, STATE_MS, writeState } from './state.ts'
import { installationsOfTeam, saveInstallation, spend } from './store.ts'

export type InstallTools = {
  db: Db
  secrets: Secrets
  provider: Provider
  /** null: the operator has set up no app */
  settings: ChatSettings | null
  publicUrl: string
  /** signs states */
  sign: Sign
}

const callbackUrl = (publicUrl: string) => `${publicUrl}/api/v1/chat/oauth/callback`

/**
 * The consent screen for the caller's project. Throws 404 without an app, 400 for a page that is not ours, and 409 for a
 * key whose maker is gone: an installation is somebody's.
 */
export function beginInstall(
  { settings, publicUrl, sign }: InstallTools,
  caller: Caller,
  redirectTo: string | undefined,
  now: Date,
): string {
  if (!settings) throw noApp()
  const { projectId, userId } = caller
  if (userId === null) throw conflict('the account that made this key is gone; use a key of somebody who is a member')
  const landing = landingOf(redirectTo, publicUrl)
  if (landing === null) {
    const message = `redirect_to must be a page of ${publicUrl}`
    throw validationError([{ path: 'redirect_to', message }])
  }
  const state: InstallState = {
    ...{ id: newId(), projectId, userId, redirectTo: landing, expiresAtMs: now.getTime() + STATE_MS },
    ...(caller.actor.kind === 'api_key' ? { keyId: caller.keyId } : { sessionId: caller.keyId }),
    ...(!isAllowed(caller, 'write') && { needsEditor: true }),
  }
  const url = new URL(settings.authorizeUrl)
  url.searchParams.set('client_id', settings.clientId)
  url.searchParams.set('scope', SCOPES.join(','))
  url.searchParams.set('redirect_uri', callbackUrl(publicUrl))
  url.searchParams.set('state', writeState(state, sign))
  return url.href
}

/** What the provider sends back with the person. */
export type Returned = { code?: string; state?: string; error?: string }

/** What a person is told of an installation before they end it: who began it, and for what. */
export type Begun = Beginner & { userId: string; projectId: string; needsEditor: boolean }

/** Reads a state without using it up. Throws 400 like finishInstall, and 404 without an app. */
export async function readBegun({ settings, db, sign }: InstallTools, sent: string, now: Date): Promise<Begun> {
  if (!settings) throw noApp()
  const state = openState(sent, sign, now)
  const beginner = await findBeginner(db, state.projectId, state.userId)
  if (!beginner) throw refusedBeginner()
  const { userId, projectId, needsEditor = false } = state
  return { ...beginner, userId, projectId, needsEditor }
}

/** Where a person goes after an installation, and which team has the app now. */
export type Finished = { landing: string; teamName: string }

/**
 * Ends what beginInstall began: exchanges the code and stores the installation. `editor`: the signed-in editor or admin
 * who confirmed it, if there is one. Throws 404 without an app, 400 for a state or a code that does not count (any more),
 * 403 for what a read key began and no editor confirmed, 409 for a team of another project, and 503 when the provider
 * cannot be asked or understood.
 */
export async function finishInstall(
  tools: InstallTools,
  returned: Returned,
  { ip, editor = null }: { ip: string; editor?: Member | null },
  now: Date,
): Promise<Finished> {
  const { settings, provider, publicUrl, db } = tools
  if (!settings) throw noApp()
  if (returned.error === undefined && openState(returned.state ?? '', tools.sign, now).needsEditor && !editor) {
    throw insufficientScope(NEEDS_EDITOR)
  }
  const state = await takeState(tools, returned.state ?? '', now)
  if (returned.error !== undefined) throw declined(returned.error)
  if (!returned.code) throw validationError([{ path: 'code', message: 'code is required' }])
  const beginner = await findMember(db, state.projectId, state.userId)
  if (!beginner || !(await mayStill(db, state, beginner))) throw refusedBeginner()
  const person = editor ?? beginner
  const fields = { code: returned.code, redirect_uri: callbackUrl(publicUrl) }
  const answer = await callProvider(provider, 'oauth.v2.access', { as: settings, fields })
  if (!answer.ok) throw refusedCode(answer)
  const grant = readGrant(answer.fields)
  if (!grant) throw await refuseGrant(tools, answer.fields)
  const actor = { kind: 'user' as const, id: person.userId, name: person.email }
  const acting = { ...actor, ip, projectId: state.projectId, organizationId: person.organizationId }
  const mayStore = (tx: Tx) => mayStill(tx, state, beginner)
  await storeGrant({ ...tools, db: actingFor(db, acting) }, { ...state, userId: person.userId }, grant, mayStore, now)
  return { landing: state.redirectTo, teamName: grant.teamName }
}

const NEEDS_EDITOR =
  'a read key began this installation; open this address in a browser in which an editor or admin of the project is signed in'

/** What cannot be used is given back, as far as it is a whole organization's: a team's may be another project's, too. */
async function refuseGrant({ provider }: InstallTools, fields: Record<string, unknown>): Promise<ApiError> {
  if (fields.is_enterprise_install !== true) return unusableAnswer()
  const token = readToken(fields)?.accessToken
  if (token) await callProvider(provider, 'auth.revoke', { as: { token } })
  return wholeOrganization()
}

/** Throws 400 for a state that we did not give out, that is too old, or that was used. */
async function takeState({ db, sign }: InstallTools, sent: string, now: Date): Promise<InstallState> {
  const state = openState(sent, sign, now)
  const isFirst = await spend(db, sha256(`state ${state.id}`), new Date(state.expiresAtMs))
  if (!isFirst) throw refusedState('was used before')
  return state
}

function openState(sent: string, sign: Sign, now: Date): InstallState {
  const state = readState(sent, sign, equalSecrets, now.getTime())
  if (state === 'forged') throw refusedState('is not one of ours')
  if (state === 'expired') throw refusedState('is older than 10 minutes')
  return state
}

const refusedBeginner = () =>
  refusedState('belongs to an account, an API key or a session that may not install anything here any more')

const refusedState = (why: string) =>
  validationError([{ path: 'state', message: `state ${why}; begin the installation again` }])

/** The key works, or the session is still there: the owner of the address may have ended others' access meanwhile. */
async function mayStill(db: Db | Tx, { keyId, sessionId }: InstallState, { organizationId }: Member): Promise<boolean> {
  if (keyId !== undefined) return (await holdKey(db, keyId))?.isSuspended === false
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
      if (!(await mayStore(tx))) throw refusedBeginner()
      const known = await installationsOfTeam(tx, teamId)
      if (known.some(one => one.projectId !== projectId && one.revokedAt === null)) throw teamIsTaken(teamName)
      const before = known.find(one => one.projectId === projectId)
      const owner = { id: before?.id ?? newId(), projectId }
      const installation: StoredInstallation = {
        ...{ defaultChannelId: null, createdAt: now, ...before, ...owner, teamId, teamName, scopes },
        tokens: sealChatTokens({ accessToken, refreshToken }, owner, secrets),
        ...lifeOf(grant.expiresInSeconds, now),
        ...{ installedBy: userId, installedAt: now, revokedAt: null, updatedAt: now },
      }
      await keepInstallation(tx, installation, grant, secrets, now)
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw teamIsTaken(teamName)
    throw error
  }
}

/** Channels are locked before their installation, as everywhere. A second default channel is never made. */
async function keepInstallation(
  tx: Tx,
  installation: StoredInstallation,
  { teamId, channel }: Grant,
  secrets: Secrets,
  now: Date,
): Promise<void> {
  const before = await lockDefaultChannel(tx, installation)
  await saveInstallation(tx, installation)
  await dropRevocationsOfTeam(tx, teamId)
  if (channel) await keepDefaultChannel(tx, installation, { before, chosen: channel }, secrets, now)
  await execute(tx, `SELECT pg_notify('chat', '')`)
}

const teamIsTaken = (teamName: string) =>
  conflict(`${teamName} is connected to another project; end the installation there first`)
