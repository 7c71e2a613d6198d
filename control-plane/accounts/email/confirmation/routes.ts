import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { acceptForms, sendErrorPage, sendPage } from '../../../foundation/web/html/forms.ts'
import { limitByNetwork } from '../../../foundation/web/limits/network-rate-limit.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { confirmAddressPage, confirmedPage, invalidConfirmationPage } from './pages.tsx'
import { type AddressConfirmation, confirmAddress, findAddressConfirmation } from './store.ts'

type TokenRoute = { Params: { token: string } }

/** How often one network may open such links in a minute. */
const MAX_LINKS_PER_MINUTE = 60

/** The pages on which the owner of an address confirms that an organization may send alerts to it; without scripts. */
export function addressRoutes(app: App, { db, isOwnHost }: { db: Db; isOwnHost(host: string): boolean }): void {
  acceptForms(app)
  app.setErrorHandler(sendErrorPage)
  app.addHook('onRequest', limitByNetwork(MAX_LINKS_PER_MINUTE, 'links'))
  app.addHook('onRequest', async request => {
    if (!isOwnHost(request.host)) throw notFound('page')
  })

  const hashOf = (request: FastifyRequest<TokenRoute>) => sha256(request.params.token)
  const dead = (reply: FastifyReply, question: AddressConfirmation | null) => {
    if (question === null || question.state === 'open') return sendPage(reply, invalidConfirmationPage('unknown'), 404)
    return sendPage(reply, invalidConfirmationPage(question.state), 410)
  }

  app.get<TokenRoute>('/confirm-address/:token', async (request, reply) => {
    const question = await findAddressConfirmation(db, hashOf(request), now())
    return question?.state === 'open' ? sendPage(reply, confirmAddressPage(question)) : dead(reply, question)
  })

  app.post<TokenRoute>('/confirm-address/:token', async (request, reply) => {
    const question = await findAddressConfirmation(db, hashOf(request), now())
    if (question?.state !== 'open') return dead(reply, question)
    if (await confirmAddress(db, hashOf(request), now())) return sendPage(reply, confirmedPage())
    return dead(reply, await findAddressConfirmation(db, hashOf(request), now()))
  })
}
