import { isContentError } from './client.ts'
import { UnknownCommitError } from './commit-outcome.ts'

/** SQLSTATE of a lost connection, a deadlock, a missing resource, a lock, a server that stops or is a standby; or a code of the system. */
const TRANSIENT_CODE = /^((08|40|53|55|57|58)[0-9A-Z]{3}|25006|25P0[34]|E[A-Z]+|EAI_[A-Z]+)$/
/** Errors of the driver and of the pool that have no code. */
const TRANSIENT_MESSAGE = /\bconnection\b|not queryable|timeout|timed out|transaction query/i

/** True when the connection to PostgreSQL, its server or another transaction is the cause: the same work may succeed soon. */
export function isTransientError(error: unknown): boolean {
  if (error instanceof UnknownCommitError) return true
  if (isContentError(error)) return false
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === undefined ? TRANSIENT_MESSAGE.test(message) : TRANSIENT_CODE.test(code)
}
