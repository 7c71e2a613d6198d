import type { FastifyRequest } from 'fastify'
import { getClientNetwork } from '../limits/client-network.ts'
import { apiKeySuspended, insufficientScope, unauthorized } from '../server/errors.ts'

export const SCOPES = ['read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who does something, named as they are called now: what they did is still told of them when they are gone. */
export type Actor = {
  kind: 'api_key' | 'user' | 'operator'
  /** of the key or the user; null: the operator's command line */
  id: string | null
  name: string
}

/** Who asks: the project of the API key, and everything that tenancy and permissions need. */
export type ApiCaller = {
  projectId: string
  organizationId: string
  keyId: string
  /** who created the key; null when that account is gone */
  userId: string | null
  scope: Scope
  /** the key is one of the operator project */
  isOperator: boolean
  /** whom the audit log names: the key, or the person who is signed in */
  actor: Actor
}

/** Finds the caller of a key; null for a key that does not exist. Throws 429 for a network that has sent too many of those. */
export type Authenticate = (key: string, network: string) => Promise<ApiCaller | 'suspended' | null>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** the scope that the route needs instead of the one its method implies */
    scope?: Scope
    /** for keys of the operator project only */
    operator?: boolean
    /** no key needed (bootstrap, the chat callback) */
    open?: boolean
  }
}

const callers = new WeakMap<object, ApiCaller>()

/** The caller of an authenticated request. Throws on an open route: there is none. */
export function getCaller(request: object): ApiCaller {
  const caller = callers.get(request)
  if (!caller) throw new Error('this route has no caller')
  return caller
}

/** False on open routes and outside the API. */
export const hasCaller = (request: object): boolean => callers.has(request)

/** Finds out who asks. Throws 401 (specification, "Authentication"). */
export async function authenticateRequest(request: FastifyRequest, authenticate: Authenticate): Promise<ApiCaller> {
  const caller = await authenticate(parseBearerKey(request.headers.authorization), getClientNetwork(request))
  if (!caller) throw unauthorized('the API key is not valid')
  if (caller === 'suspended') throw apiKeySuspended()
  callers.set(request, caller)
  return caller
}

/**
 * Throws 403 unless the key's scope covers the route's, which its method implies where it names none (decisions 2.2),
 * and for what is the operator's unless the key is one of the operator project.
 */
export function assertScope(request: FastifyRequest, caller: ApiCaller): void {
  if (request.routeOptions.config.operator && !caller.isOperator) {
    throw insufficientScope(
      'this needs an API key of the operator project, which the operator makes with: npm run admin -- operator create',
    )
  }
  const needed = request.routeOptions.config.scope ?? getMethodScope(request.method)
  if (hasScope(caller, needed)) return
  throw insufficientScope(`this needs a key with scope ${needed}; this key has ${caller.scope}`)
}

/** Whether what a caller may do covers a scope. */
export const hasScope = (caller: Pick<ApiCaller, 'scope'>, needed: Scope): boolean =>
  SCOPES.indexOf(caller.scope) >= SCOPES.indexOf(needed)

/**
 * Throws 403 when a key below admin would send stored secrets, which it cannot read, to another origin than the one
 * they were given for. `places`: what they are, empty when there are none. `otherWay`: what such a key can do instead.
 */
export function assertMayRedirectSecrets(
  caller: ApiCaller,
  places: string[],
  otherWay = 'send the secret again, or clear it first',
): void {
  if (places.length === 0 || caller.scope === 'admin') return
  const what = `the stored ${places.join(', ')}`
  throw insufficientScope(`this would send ${what} to another origin, which needs an admin key; ${otherWay}`)
}

function parseBearerKey(header: string | undefined): string {
  if (!header) throw unauthorized('send the API key as "Authorization: Bearer <API_KEY>"')
  const [, key] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (!key) throw unauthorized('only "Authorization: Bearer <API_KEY>" is accepted')
  return key
}

const getMethodScope = (method: string): Scope => (method === 'GET' || method === 'HEAD' ? 'read' : 'write')
