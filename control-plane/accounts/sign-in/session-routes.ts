import type { FastifyReply, FastifyRequest } from 'fastify'
import { TooBusyError } from '../../foundation/platform/crypto/passwords.ts'
import { unavailable } from '../../foundation/web/server/errors.ts'
import { readSession, SESSION_LIFETIME_MS } from '../sessions/actions.ts'
import { buildSessionCookie, parseSessionToken } from '../sessions/cookie.ts'
import type { SignInTools } from './actions.ts'

/** Returns the session of a request, or null. */
export const findRequestSession = (request: FastifyRequest, { db }: Pick<SignInTools, 'db'>) =>
  readSession(db, parseSessionToken(request.headers.cookie))

/** Every sign-in gets a new session; the cookie that was sent is not reused. */
export const setSessionCookie = (reply: FastifyReply, token: string): FastifyReply =>
  reply.header('set-cookie', buildSessionCookie(token, SESSION_LIFETIME_MS / 1_000))

export function rethrowBusy(error: unknown): never {
  throw error instanceof TooBusyError ? unavailable('too many people are signing in; try again shortly') : error
}
