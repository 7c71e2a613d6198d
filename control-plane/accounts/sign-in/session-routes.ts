import type { FastifyReply, FastifyRequest } from 'fastify'
import { TooBusyError } from '../../foundation/platform/crypto/passwords.ts'
import { unavailable } from '../../foundation/web/server/errors.ts'
import { readSession, SESSION_LIFETIME_MS } from '../sessions/actions.ts'
import { buildSessionCookie, parseSessionToken } from '../sessions/cookie.ts'
import type { SignInTools } from './actions.ts'

/** Who is signed in; null: nobody. */
export const findRequestSession = (request: FastifyRequest, { db }: Pick<SignInTools, 'db'>) =>
  readSession(db, parseSessionToken(request.headers.cookie))
/** Whoever comes in gets a session of their own, whatever cookie they brought. */
export const setSessionCookie = (reply: FastifyReply, token: string): FastifyReply =>
  reply.header('set-cookie', buildSessionCookie(token, SESSION_LIFETIME_MS / 1000))

export function rethrowBusy(error: unknown): never {
  throw error instanceof TooBusyError ? unavailable('too many people sign in at this moment; try again') : error
}
