import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'
import { limitByNetwork } from '../../foundation/web/limits/network-rate-limit.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { sendError, toApiError } from '../../foundation/web/server/error-response.ts'
import { registrationClosed } from '../../foundation/web/server/errors.ts'
import { dataSchema, Name, responseSchemas, strictObject } from '../../foundation/web/validation/schemas.ts'
import type { PlanName } from '../plans/plans.ts'
import { countRefusedAttempt, registerAccount } from './actions.ts'
import { getClientInfo } from './client-info.ts'
import type { RegistrationMode } from './registration-mode.ts'

/** Enough for the longest address and name that are accepted. */
const MAX_BODY_BYTES = 4_096
/** Far above the hourly limits: it refuses floods before their bodies are read. */
const MAX_REQUESTS_PER_MINUTE = 60

const Account = Type.Object({
  api_key: Type.String(),
  organization_id: Type.String(),
  user_id: Type.String(),
  email: Type.String(),
  claim_url: Type.String(),
  claim_expires_in: Type.String(),
  dashboard_url: Type.String(),
  message: Type.String(),
})

const CLOSED_MESSAGES = {
  invited: 'accounts are created by invitation only; ask an admin of your organization',
  closed: 'only the operator of this installation can create accounts',
}

type Context = { db: Db; publicUrl: string; defaultPlan: PlanName; registration: RegistrationMode }

/** `POST /agent/bootstrap`: creates an account and an admin key from an email address, without authentication. */
export function bootstrapRoutes(app: App, context: Context): void {
  const { db, publicUrl, defaultPlan: plan, registration } = context
  app.post(
    '/agent/bootstrap',
    {
      config: { open: true },
      bodyLimit: MAX_BODY_BYTES,
      // before the body is read
      onRequest: [
        (_request, _reply, done) =>
          done(registration === 'open' ? undefined : registrationClosed(CLOSED_MESSAGES[registration])),
        limitByNetwork(MAX_REQUESTS_PER_MINUTE, 'requests for an account'),
      ],
      schema: {
        tags: ['Accounts'],
        summary: 'Create an account, an organization, a project and an admin API key',
        body: strictObject({ email: Type.String({ format: 'email', maxLength: 254 }), name: Type.Optional(Name) }),
        response: responseSchemas(201, dataSchema(Account), 400, 403, 409, 429),
      },
      // every 400 and 409 counts, including bodies that did not reach the handler
      errorHandler: async (error, request, reply) => {
        const refused = [400, 409, 413, 415].includes(toApiError(error, request).status)
        const counted = refused
          ? await countRefusedAttempt(db, getClientNetwork(request)).catch(tooMany => tooMany)
          : null
        return sendError(counted ?? error, request, reply)
      },
    },
    async (request, reply) => {
      const { email, name = null } = request.body
      const account = await registerAccount(db, getClientInfo(request), {
        email,
        name,
        plan,
        publicUrl,
        provesEmail: false,
      })
      return reply.code(201).send({ data: account })
    },
  )
}
