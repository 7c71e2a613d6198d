import { type ChatApiResult, isRevoked } from '../../../alerting/channels/chat-api-response.ts'
import { ApiError, conflict, unavailable, validationError } from '../../../foundation/web/server/errors.ts'

type Refusal = Extract<ChatApiResult, { ok: false }>

/** 404: the operator has registered no app. Asking again helps nobody, so it is no 503. */
export const appNotConfiguredError = () =>
  new ApiError(404, 'not_found', 'no chat app is set up here; the operator sets CHAT_CLIENT_ID and its siblings')

/** 400: the person did not consent. `error`: what the provider called that. */
export function installDeclinedError(error: string): ApiError {
  const why =
    error === 'access_denied' ? 'the installation was declined in the chat' : 'the chat refused the installation'
  return validationError([{ path: 'error', message: `${why}; nothing was changed` }])
}

const INVALID_CODE_REASONS = ['invalid_code', 'code_already_used', 'code_expired', 'bad_redirect_uri']

/** 400 for a code that does not count (any more), 503 for whatever else keeps it from being exchanged. */
export function codeRejectedError(answer: Refusal): ApiError {
  if (!INVALID_CODE_REASONS.includes(answer.reason)) return providerCallError(answer)
  const message = `code was refused by the chat (${answer.reason}); begin the installation again`
  return validationError([{ path: 'code', message }])
}

/** 503, and for a team that removed the app 409. */
export function providerCallError({ reason }: Refusal): ApiError {
  if (isRevoked(reason)) return appRemovedError()
  return unavailable(`the chat service ${REASON_TEXTS[reason] ?? `refused (${reason})`}; try again in a moment`)
}

/** 409: there is nothing to ask the provider with. */
export const appRemovedError = () => conflict('the team removed the app from its chat; install it again')

const REASON_TEXTS: Record<string, string> = {
  unreachable: 'cannot be reached',
  unavailable: 'is out of order',
  unreadable: 'gave an answer that cannot be read',
  ratelimited: 'was asked too often',
}

/** 400: commands and messages belong to one team (decisions 10.2). */
export const organizationInstallError = () =>
  validationError([
    { path: 'code', message: 'code is for a whole organization of the chat; begin again and choose one team' },
  ])

/** 503: an answer without what an installation needs. */
export const incompleteGrantError = () =>
  unavailable(
    'the chat service answered without a team, a token of a bot and the scope chat:write; install into one team, with all scopes',
  )
