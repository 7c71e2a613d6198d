import type { FastifyRequest } from 'fastify'
import { monotonicMs } from '../../platform/time/clock.ts'
import { getClientNetwork } from '../limits/client-network.ts'
import { type ApiError, apiKeySuspended, insufficientScope, otherSession, unauthorized } from '../server/errors.ts'
import { isForeignPageRequest, isOwnPageRequest } from './own-page.ts'
import { getSessionView } from './session-bridge.ts'

export const SCOPES = ['read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** The actor of a change, with the current name: the audit log keeps it after the key or user is deleted. */
export type Actor = {
  kind: 'api_key' | 'user' | 'operator'
  /** of the key or the user; null: the operator's command line */
  id: string | null
  name: string
}

/** The caller of a request: the project of the API key, and everything that tenancy and permissions need. */
export type ApiCaller = {
  projectId: string
  organizationId: string
  keyId: string
  /** the creator of the key; null when that account was deleted */
  userId: string | null
  scope: Scope
  /** the key belongs to the operator project */
  isOperator: boolean
  /** the actor for the audit log: the key, or the signed-in user */
  actor: Actor
}

/** Finds the caller of a key; null for a key that does not exist. Throws 429 for a network that sent too many unknown keys. */
export type Authenticate = (key: string, network: string) => Promise<ApiCaller | 'suspended' | null>

/** What identifies the session of a request and the network that it counts against. */
export type SessionRequest = Pick<FastifyRequest, 'headers' | 'ip' | 'socket'>

/**
 * Finds the caller of a request by its session cookie; null without a session, `no_organization` for a user without access.
 * Throws 429 for a network that sent too many unknown sessions.
 */
export type AuthenticateSession = (request: SessionRequest) => Promise<ApiCaller | 'no_organization' | null>

/**
 * Reads a caller again by the id of its key or session, without a cache and without the limits of unknown keys. Returns null
 * when the key or session does not work any more.
 */
export type ReadCaller = (caller: ApiCaller) => Promise<ApiCaller | null>

type Authenticators = {
  authenticate: Authenticate
  authenticateSession: AuthenticateSession
  reloadCaller: ReadCaller
  publicUrl: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** the scope that the route needs, instead of the one that its method implies */
    scope?: Scope
    /** the scope that a signed-in person needs, where it is lower than that of a key */
    personScope?: Scope
    /** for keys of the operator project only */
    operator?: boolean
    /** no key needed (bootstrap, the chat callback) */
    open?: boolean
  }
  interface FastifyRequest {
    /** null until the request is authenticated, and on open routes */
    caller: ApiCaller | null
    /**
     * Reads the caller again, for requests and answers that take long. Throws 401 when its key or session does not work any
     * more, or has another project. null where there is no caller.
     */
    authenticateAgain: (() => Promise<ApiCaller>) | null
    /** monotonic time of the last authentication */
    authenticatedMs: number
  }
}

type WithCaller = Pick<FastifyRequest, 'caller'>

/** The caller of an authenticated request. Throws on an open route, which has no caller. */
export function getCaller({ caller }: WithCaller): ApiCaller {
  if (!caller) throw new Error('this route has no caller')
  return caller
}

/** False on open routes and outside the API. */
export const hasCaller = ({ caller }: WithCaller): boolean => caller !== null

/** Identifies the caller by the API key, or by the session on the session bridge. Throws 401 (docs/design/api.md#authentication). */
export async function authenticateRequest(request: FastifyRequest, context: Authenticators): Promise<ApiCaller> {
  const caller =
    getSessionView(request) !== undefined
      ? await findSessionCaller(request, context)
      : await findKeyCaller(request, context)
  const authenticated = (current: ApiCaller) => {
    request.caller = current
    request.authenticatedMs = monotonicMs()
    return current
  }
  request.authenticateAgain = async () => {
    const current = await context.reloadCaller(caller)
    const isSame = current?.projectId === caller.projectId && current.actor.id === caller.actor.id
    if (!current || !isSame) throw unauthorized('the API key or session has stopped working during this request')
    return authenticated(current)
  }
  return authenticated(caller)
}

async function findKeyCaller(request: FastifyRequest, { authenticate }: Authenticators): Promise<ApiCaller> {
  const caller = await authenticate(parseBearerKey(request.headers.authorization), getClientNetwork(request))
  if (!caller) throw unauthorized('the API key is not valid')
  if (caller === 'suspended') throw apiKeySuspended()
  return caller
}

async function findSessionCaller(request: FastifyRequest, context: Authenticators): Promise<ApiCaller> {
  if (isBearer(request.headers.authorization))
    throw unauthorized(`API keys are not accepted here; the base address of the API is ${context.publicUrl}/api/v1`)
  const isOwn = isRead(request.method) ? !isForeignPageRequest(request) : isOwnPageRequest(request, context.publicUrl)
  if (!isOwn) throw insufficientScope('this request was not sent from a page of this site')
  const caller = await context.authenticateSession(request)
  if (!caller) throw unauthorized('sign in first: there is no session, or it has ended')
  if (caller === 'no_organization') throw insufficientScope('your account has no access to an organization')
  const view = getSessionView(request)
  if (view && (view.projectId !== caller.projectId || view.userId !== caller.userId)) throw otherSession()
  return caller
}

/**
 * Throws 403 unless the key has the scope that the route names or its method implies (docs/design/api.md#scopes), and, for
 * routes of the operator, unless the key belongs to the operator project.
 */
export function assertScope(request: FastifyRequest, caller: ApiCaller): void {
  if (request.routeOptions.config.operator && !caller.isOperator) {
    throw insufficientScope(
      'this endpoint needs an API key of the operator project; the operator creates it with: npm run admin -- operator create',
    )
  }
  const { scope, personScope } = request.routeOptions.config
  const needed = (caller.actor.kind === 'user' ? personScope : undefined) ?? scope ?? getMethodScope(request.method)
  if (hasScope(caller, needed)) return
  if (caller.actor.kind === 'user') throw buildRoleError(caller.scope, needed)
  throw insufficientScope(`this endpoint needs an API key with scope ${needed}; this key has scope ${caller.scope}`)
}

/** 403 for a person whose role allows less than the needed scope. */
export const buildRoleError = (scope: Scope, needed: Scope): ApiError =>
  insufficientScope(`this needs the role ${SCOPE_ROLES[needed]}; your role is ${SCOPE_ROLES[scope]}`)

/** The role of a member that allows what a scope of API keys allows. */
export const SCOPE_ROLES = { read: 'viewer', write: 'editor', admin: 'admin' } as const satisfies Record<Scope, string>

/** Whether the caller has at least this scope. */
export const hasScope = (caller: Pick<ApiCaller, 'scope'>, needed: Scope): boolean =>
  SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed)

/**
 * Throws 403 when a key below admin would send stored secrets, which it cannot read, to another origin than before
 * (docs/design/api.md#masked-secrets). `paths`: the secrets, empty when there are none. `alternative`: what such a key can
 * do instead.
 */
export function assertMayRedirectSecrets(
  caller: ApiCaller,
  paths: string[],
  alternative = 'send the secret again, or clear it first',
): void {
  if (paths.length === 0 || caller.scope === 'admin') return
  const what = `the stored ${paths.join(', ')}`
  throw insufficientScope(`this would send ${what} to another origin, which needs an admin key; ${alternative}`)
}

function parseBearerKey(header: string | undefined): string {
  if (!header) throw unauthorized('send the API key as "Authorization: Bearer <API_KEY>"')
  const [, key] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (!key) throw unauthorized('only "Authorization: Bearer <API_KEY>" is accepted')
  return key
}

/** Whether an Authorization header has an API key. */
export const isBearer = (header: string | undefined): boolean => /^Bearer\b/i.test(header ?? '')

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

const getMethodScope = (method: string): Scope => (isRead(method) ? 'read' : 'write')
