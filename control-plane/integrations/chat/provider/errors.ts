import { type ChatApiResult, isRevoked } from '../../../alerting/channels/chat-api-response.ts'
import { ApiError, conflict, unavailable, validationError } from '../../../foundation/web/server/errors.ts'

type Refusal = Extract<ChatApiResult, { ok: false }>

/** 404: the operator has not configured an app. Not 503, because a retry does not help. */
export const appNotConfiguredError = () =>
  new ApiError(
    404,
    'not_found',
    'no chat app is configured; the operator must configure CHAT_CLIENT_ID, CHAT_CLIENT_SECRET and CHAT_SIGNING_SECRET',
  )

/** 400: the person did not consent. `error` is the error of the provider. */
export function installDeclinedError(error: string): ApiError {
  const why =
    error === 'access_denied' ? 'the installation was declined in the chat' : 'the chat refused the installation'
  return validationError([{ path: 'error', message: `${why}; nothing has changed` }])
}

const INVALID_CODE_REASONS = ['invalid_code', 'code_already_used', 'code_expired', 'bad_redirect_uri']

/** 400 for an invalid or used code, 503 for other errors of the exchange. */
export function codeRejectedError(answer: Refusal): ApiError {
  if (!INVALID_CODE_REASONS.includes(answer.reason)) return providerCallError(answer)
  const message = `code was refused by the chat (${answer.reason}); start the installation again`
  return validationError([{ path: 'code', message }])
}

/** 503, or 409 when the team removed the app. */
export function providerCallError({ reason }: Refusal): ApiError {
  if (isRevoked(reason)) return appRemovedError()
  return unavailable(`the chat service ${REASON_TEXTS[reason] ?? `refused (${reason})`}; try again shortly`)
}

/** 409: the installation has no valid token. */
export const appRemovedError = () => conflict('the team has removed the app from its chat; install it again')

const REASON_TEXTS: Record<string, string> = {
  unreachable: 'is unreachable',
  unavailable: 'is unavailable',
  unreadable: 'sent an invalid response',
  ratelimited: 'received too many requests',
}

/** 400: an installation is for one team. */
export const organizationInstallError = () =>
  validationError([
    { path: 'code', message: 'code is for a whole organization of the chat; start again and choose one team' },
  ])

/** 503: a response that lacks what an installation needs. */
export const incompleteGrantError = () =>
  unavailable(
    'the response of the chat service lacks a team, a bot token or the scope chat:write; install the app for one team, with all scopes',
  )
