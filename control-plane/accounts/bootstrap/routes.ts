import { Type } from 'typebox'
import type { Db } from '../../platform/postgres.ts'
import { answerError, toApiError } from '../../web/answer.ts'
import type { App } from '../../web/app.ts'
import { registrationClosed } from '../../web/errors.ts'
import { clientNetworkOf } from '../../web/network.ts'
import { limitByNetwork } from '../../web/network-limit.ts'
import { answers, dataOf, Name, strictObject } from '../../web/schemas.ts'
import type { Plan } from '../plans.ts'
import type { Registration } from '../registration.ts'
import { bootstrap, countRefusal } from './actions.ts'
import { visitorOf } from './network.ts'

/** An address and a name of any length that is taken. */
const BODY_BYTES = 4_096
/** Far more than make accounts or are counted as refused in an hour: it ends floods before their bodies are read. */
const REQUESTS_PER_MINUTE = 60

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

const CLOSED = {
  invited: 'accounts are made by invitation here: ask an admin of your organization',
  closed: 'accounts are made by the operator of this installation',
}

type Context = { db: Db; publicUrl: string; defaultPlan: Plan; registration: Registration }

/** `POST /agent/bootstrap`: an account and a working admin key from an e-mail address, without authentication. */
export function bootstrapRoutes(app: App, context: Context): void {
  const { db, publicUrl, defaultPlan: plan, registration } = context
  app.post(
    '/agent/bootstrap',
    {
      config: { open: true },
      bodyLimit: BODY_BYTES,
      // before anything of the request is read
      onRequest: [
        (_request, _reply, done) =>
          done(registration === 'open' ? undefined : registrationClosed(CLOSED[registration])),
        limitByNetwork(REQUESTS_PER_MINUTE, 'requests for an account'),
      ],
      schema: {
        tags: ['Accounts'],
        summary: 'Create an account, an organization, a project and an admin API key',
        body: strictObject({ email: Type.String({ format: 'email', maxLength: 254 }), name: Type.Optional(Name) }),
        response: answers(201, dataOf(Account), 400, 403, 409, 429),
      },
      // every 400 and 409 counts, also those of a body that never reached the handler
      errorHandler: async (error, request, reply) => {
        const refused = [400, 409, 413, 415].includes(toApiError(error, request).status)
        const counted = refused ? await countRefusal(db, clientNetworkOf(request)).catch(tooMany => tooMany) : null
        return answerError(counted ?? error, request, reply)
      },
    },
    async (request, reply) => {
      const { email, name = null } = request.body
      const account = await bootstrap(db, visitorOf(request), { email, name, plan, publicUrl, provesEmail: false })
      return reply.code(201).send({ data: account })
    },
  )
}
