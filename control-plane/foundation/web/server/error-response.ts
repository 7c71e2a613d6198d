import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ClickhouseReadError } from '../../platform/clickhouse.ts'
import { UnknownCommitError } from '../../platform/postgres/commit-outcome.ts'
import { isReadOnlyError } from '../../platform/postgres/read-only.ts'
import { toErrorDetails, type ValidationFault } from '../validation/validation-errors.ts'
import { ApiError, toErrorBody, tooBusy, unavailable, unsupportedMediaType, validationError } from './errors.ts'

type ThrownError = {
  statusCode?: number
  code?: string
  message: string
  validation?: ValidationFault[]
  validationContext?: string
}

const PART_NAMES: Record<string, string> = { body: 'body', querystring: 'query', params: 'path', headers: 'headers' }

/** Turns a thrown error into the response. This is the only place that does (docs/design/api.md#errors). */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = toApiError(thrown, request)
  // the key is neither released nor answered while the outcome is unknown
  if (thrown instanceof UnknownCommitError) request.idempotencyClaim = null
  const { code } = thrown as ThrownError
  if (isCancelled(thrown as ThrownError)) request.log.warn({ sqlstate: code, request_id: request.id }, CANCELLED)
  else if (error.status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a request failed')
  if (error.extra.retryAfterSeconds !== undefined) reply.header('retry-after', error.extra.retryAfterSeconds)
  return reply.code(error.status).header('content-type', 'application/json; charset=utf-8').send(toErrorBody(error))
}

/** Answers bytes that are not HTTP in the common shape, if the connection allows it. */
export function sendMalformedRequestError(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const status = tooLarge ? 431 : late ? 408 : 400
  const message = tooLarge
    ? 'the request headers are too large'
    : late
      ? 'the request was not received in time'
      : 'the request is not valid HTTP'
  const body = JSON.stringify(toErrorBody(new ApiError(status, 'validation_error', message)))
  const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}

/** The API error for anything that was thrown. */
export function toApiError(error: unknown, request: Pick<FastifyRequest, 'id' | 'routeOptions'>): ApiError {
  if (error instanceof ApiError) return error
  const thrown = error as ThrownError
  if (thrown.validation) {
    return validationError(toErrorDetails(thrown.validation, PART_NAMES[thrown.validationContext ?? ''] ?? 'request'))
  }
  if (thrown.statusCode === 413)
    return new ApiError(
      413,
      'payload_too_large',
      `the body must not be larger than ${formatBytes(request.routeOptions.bodyLimit)}`,
    )
  if (thrown.statusCode === 415) return unsupportedMediaType()
  if (thrown.statusCode === 400) return validationError([{ path: '', message: thrown.message }])
  if (isCancelled(thrown)) return tooBusy('the database took too long')
  if (thrown instanceof ClickhouseReadError && thrown.isLate) return tooBusy('the history took too long')
  if (isEngineUnreachable(thrown) || thrown instanceof UnknownCommitError || thrown instanceof ClickhouseReadError)
    return unavailable('temporarily unavailable; try again shortly')
  return new ApiError(500, 'internal_error', `an internal error occurred (request ${request.id})`)
}

/** `4 KiB`, `1 MiB`: limits are whole multiples. */
const formatBytes = (bytes: number) => (bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`)

/** statement_timeout, lock_timeout and deadlock: the transaction was rolled back. */
const CANCELLED_CODES = ['57014', '55P03', '40P01']
const CANCELLED = 'a request was cancelled: it took too long in the database'
const isCancelled = ({ code }: ThrownError) => CANCELLED_CODES.includes(code ?? '')

const UNREACHABLE_CODES = /^(ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|08|57P0|53300|SOCKET_TIMEOUT)/
const UNREACHABLE_MESSAGES =
  /(?:^| - )(Knex: Timeout|Connection terminated|Client has encountered a connection error|Timeout error|timeout expired|timeout exceeded|socket hang up)/

/**
 * True for errors of the client libraries when their engine cannot be reached, and for those of a PostgreSQL that accepts no
 * writes. knex prepends the statement to the message.
 */
const isEngineUnreachable = (thrown: ThrownError) =>
  UNREACHABLE_CODES.test(thrown.code ?? '') ||
  UNREACHABLE_MESSAGES.test(thrown.message ?? '') ||
  isReadOnlyError(thrown)
