import type { FastifyReply } from 'fastify'
import { TooBusyError } from '../../foundation/platform/crypto/passwords.ts'
import { unavailable } from '../../foundation/web/server/errors.ts'
import { SESSION_LIFETIME_MS } from '../sessions/actions.ts'
import { buildSessionCookie } from '../sessions/cookie.ts'

/** Every sign-in gets a new session; the cookie that was sent is not reused. */
export const setSessionCookie = (reply: FastifyReply, token: string): FastifyReply =>
  reply.header('set-cookie', buildSessionCookie(token, SESSION_LIFETIME_MS / 1_000))

export function rethrowBusy(error: unknown): never {
  throw error instanceof TooBusyError ? unavailable('too many people are signing in; try again shortly') : error
}
