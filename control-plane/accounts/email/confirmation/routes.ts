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

/** Links that one network may open in a minute. */
const MAX_LINKS_PER_MINUTE = 60

/** The pages on which the owner of an address confirms that an organization may send alerts to it; without scripts. */
export function addressRoutes(app: App, { db, isOwnHost }: { db: Db; isOwnHost(host: string): boolean }): void {
  acceptForms(app)
  app.setErrorHandler(sendErrorPage)
  app.addHook('onRequest', limitByNetwork(MAX_LINKS_PER_MINUTE, 'links'))
  app.addHook('onRequest', async request => {
    if (!isOwnHost(request.host)) throw notFound('page')
  })

  const hashToken = (request: FastifyRequest<TokenRoute>) => sha256(request.params.token)
  const sendInvalidLink = (reply: FastifyReply, confirmation: AddressConfirmation | null) => {
    if (confirmation === null || confirmation.state === 'open')
      return sendPage(reply, invalidConfirmationPage('unknown'), 404)
    return sendPage(reply, invalidConfirmationPage(confirmation.state), 410)
  }

  app.get<TokenRoute>('/confirm-address/:token', async (request, reply) => {
    const confirmation = await findAddressConfirmation(db, hashToken(request), now())
    return confirmation?.state === 'open'
      ? sendPage(reply, confirmAddressPage(confirmation))
      : sendInvalidLink(reply, confirmation)
  })

  app.post<TokenRoute>('/confirm-address/:token', async (request, reply) => {
    const confirmation = await findAddressConfirmation(db, hashToken(request), now())
    if (confirmation?.state !== 'open') return sendInvalidLink(reply, confirmation)
    if (await confirmAddress(db, hashToken(request), now())) return sendPage(reply, confirmedPage())
    return sendInvalidLink(reply, await findAddressConfirmation(db, hashToken(request), now()))
  })
}
