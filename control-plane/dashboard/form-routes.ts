import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptForms, assertOwnForm, parseFormFields } from '../foundation/web/html/forms.ts'
import type { App } from '../foundation/web/server/app.ts'
import { ApiError, ERROR_CODES, unavailable } from '../foundation/web/server/errors.ts'
import type { OperationError } from './core/operations.ts'
import { FORMS, type PageForm } from './forms.ts'
import { createSessionExecute } from './load-actions.ts'

/** Longer than every text that the API accepts, so that its error says what is wrong. */
const MAX_FIELD_LENGTH = 16_384

/** The forms of the dashboard that work without scripts, in a scope of their own. An error is a page. */
export function formRoutes(app: App, { publicUrl }: { publicUrl: string }): void {
  acceptForms(app)
  app.addHook('preHandler', async request => assertOwnForm(request, publicUrl))
  for (const form of FORMS) app.post(form.path, (request, reply) => carryOut(app, form, request, reply))
}

async function carryOut(app: App, form: PageForm, request: FastifyRequest, reply: FastifyReply) {
  const { id } = request.params as { id: string }
  const execute = createSessionExecute(app, request)
  const outcome = await execute(form.operation, form.buildArguments(id, parseFormFields(request, MAX_FIELD_LENGTH)))
  if (!('error' in outcome)) return reply.redirect(form.buildNextPath(id, outcome.data), 303)
  if (outcome.error.status === 401) return reply.redirect(buildSignInPath(request), 303)
  throw toApiError(outcome.error)
}

/** After signing in, the page that contains the form. */
const buildSignInPath = ({ url }: FastifyRequest) =>
  `/sign-in?${new URLSearchParams({ return_to: url.slice(0, url.lastIndexOf('/')) })}`

function toApiError({ status, code, message, details }: OperationError): ApiError {
  const known = ERROR_CODES.find(one => one === code)
  if (known === undefined) return unavailable('this cannot be carried out at the moment; try again shortly')
  return new ApiError(status, known, message, details && { details })
}
