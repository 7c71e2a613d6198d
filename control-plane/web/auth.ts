import type { FastifyRequest } from 'fastify'
import { insufficientScope, rateLimited, unauthorized } from './errors.ts'
import type { RateLimit } from './rate-limit.ts'

export const SCOPES = ['read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who asks: the project of the API key, and everything that tenancy and permissions need. */
export type Caller = {
  projectId: string
  organizationId: string
  keyId: string
  /** who created the key; null when that account is gone */
  userId: string | null
  scope: Scope
}

/** Finds the caller of a key; null for a key that does not exist. */
export type Authenticate = (key: string) => Promise<Caller | null>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** the scope that the route needs instead of the one its method implies */
    scope?: Scope
    /** no key needed (bootstrap, the chat callback) */
    open?: boolean
  }
}

const callers = new WeakMap<object, Caller>()

/** The caller of an authenticated request. Throws on an open route: there is none. */
export function callerOf(request: object): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('this route has no caller')
  return caller
}

/**
 * Authenticates a request under /api/v1, checks the scope, and counts it against the key's rate limit (specification,
 * "Authentication"; decisions 1.8 and 2.2). Returns the state of the limit for the `RateLimit-*` headers.
 */
export async function authorize(request: FastifyRequest, authenticate: Authenticate, limit: RateLimit, nowMs: number) {
  const caller = await authenticate(bearerKey(request.headers.authorization))
  if (!caller) throw unauthorized('the API key is not valid')
  callers.set(request, caller)

  const use = limit(caller.keyId, nowMs)
  const needed = request.routeOptions.config.scope ?? scopeOfMethod(request.method)
  return {
    use,
    refusal: !use.allowed
      ? rateLimited(`more than ${use.limit} requests a minute`, use.resetSeconds)
      : request.is404 || includes(caller.scope, needed)
        ? null
        : insufficientScope(`this needs a key with scope ${needed}; this key has ${caller.scope}`),
  }
}

function bearerKey(header: string | undefined): string {
  if (!header) throw unauthorized('send the API key as "Authorization: Bearer <API_KEY>"')
  const [, key] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (!key) throw unauthorized('only "Authorization: Bearer <API_KEY>" is accepted')
  return key
}

const scopeOfMethod = (method: string): Scope => (method === 'GET' || method === 'HEAD' ? 'read' : 'write')

const includes = (has: Scope, needed: Scope) => SCOPES.indexOf(has) >= SCOPES.indexOf(needed)
