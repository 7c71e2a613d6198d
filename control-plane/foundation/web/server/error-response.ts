import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UnknownCommitError } from '../../platform/postgres/commit-outcome.ts'
import { toErrorDetails, type ValidationFault } from '../validation/validation-errors.ts'
import { ApiError, toErrorBody, tooBusy, unavailable, unsupportedMediaType, validationError } from './errors.ts'
import { leaveClaimOpen } from './idempotency.ts'

type ThrownError = {
  statusCode?: number
  code?: string
  message: string
  validation?: ValidationFault[]
  validationContext?: string
}

const PART_NAMES: Record<string, string> = { body: 'body', querystring: 'query', params: 'path', headers: 'headers' }

/** Turns whatever was thrown into the answer: the one place where that happens (decisions 1.3). */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const error = toApiError(thrown, request)
  if (thrown instanceof UnknownCommitError) leaveClaimOpen(request)
  const { code } = thrown as ThrownError
  if (isGivenUp(thrown as ThrownError)) request.log.warn({ sqlstate: code, request_id: request.id }, GIVEN_UP)
  else if (error.status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a request failed')
  if (error.extra.retryAfterSeconds !== undefined) reply.header('retry-after', error.extra.retryAfterSeconds)
  return reply.code(error.status).header('content-type', 'application/json; charset=utf-8').send(toErrorBody(error))
}

/** Answers bytes that are not HTTP in the same shape, as far as the connection allows. */
export function sendMalformedRequestError(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const status = tooLarge ? 431 : late ? 408 : 400
  const message = tooLarge ? 'the headers are too large' : late ? 'the request came too slowly' : 'this is not HTTP'
  const body = JSON.stringify(toErrorBody(new ApiError(status, 'validation_error', message)))
  const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  socket.end(`${head}Connection: close\r\n\r\n${body}`)
}

/** What the caller is told about something that was thrown. */
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
      `the body is larger than ${formatBytes(request.routeOptions.bodyLimit)}`,
    )
  if (thrown.statusCode === 415) return unsupportedMediaType()
  if (thrown.statusCode === 400) return validationError([{ path: '', message: thrown.message }])
  if (isGivenUp(thrown)) return tooBusy('the database took too long')
  if (isEngineAway(thrown) || thrown instanceof UnknownCommitError)
    return unavailable('a database is away; try again in a moment')
  return new ApiError(500, 'internal_error', `something went wrong on our side (request ${request.id})`)
}

/** `4 KiB`, `1 MiB`: limits are whole numbers of them. */
const formatBytes = (bytes: number) => (bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`)

/** A statement was ended at its limit or at a lock's, or in a circle of waiting: its transaction is taken back. */
const GIVEN_UP_CODES = ['57014', '55P03', '40P01']
const GIVEN_UP = 'a request was given up: it took too long in the database'
const isGivenUp = ({ code }: ThrownError) => GIVEN_UP_CODES.includes(code ?? '')

const AWAY_CODES = /^(ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|08|57P0|53300|SOCKET_TIMEOUT)/
const AWAY_MESSAGES =
  /(?:^| - )(Knex: Timeout|Connection terminated|Client has encountered a connection error|Timeout error|timeout expired|timeout exceeded|socket hang up)/

/** True for what the client libraries throw when their engine cannot be reached. knex puts the statement before it. */
const isEngineAway = ({ code, message }: ThrownError) =>
  AWAY_CODES.test(code ?? '') || AWAY_MESSAGES.test(message ?? '')
