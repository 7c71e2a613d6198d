import type { FastifyReply, FastifyRequest } from 'fastify'
import { now } from '../../platform/clock.ts'
import type { Db } from '../../platform/postgres.ts'
import { sha256 } from '../../platform/secrets.ts'
import type { App } from '../../web/app.ts'
import { notFound } from '../../web/errors.ts'
import { answerPerson, sendPage, takeForms } from '../../web/forms.ts'
import { limitByNetwork } from '../../web/network-limit.ts'
import { askPage, confirmedPage, deadLinkPage } from './pages.tsx'
import { confirmAddress, findQuestion, type Question } from './store.ts'

type Linked = { Params: { token: string } }

/** How often one network may open such links in a minute. */
const OPENED_PER_MINUTE = 60

/** The pages on which the owner of an address confirms that an organization may send alerts to it; without scripts. */
export function addressRoutes(app: App, { db, isOwnHost }: { db: Db; isOwnHost(host: string): boolean }): void {
  takeForms(app)
  app.setErrorHandler(answerPerson)
  app.addHook('onRequest', limitByNetwork(OPENED_PER_MINUTE, 'links'))
  app.addHook('onRequest', async request => {
    if (!isOwnHost(request.host)) throw notFound('page')
  })

  const hashOf = (request: FastifyRequest<Linked>) => sha256(request.params.token)
  const dead = (reply: FastifyReply, question: Question | null) => {
    if (question === null || question.state === 'open') return sendPage(reply, deadLinkPage('unknown'), 404)
    return sendPage(reply, deadLinkPage(question.state), 410)
  }

  app.get<Linked>('/confirm-address/:token', async (request, reply) => {
    const question = await findQuestion(db, hashOf(request), now())
    return question?.state === 'open' ? sendPage(reply, askPage(question)) : dead(reply, question)
  })

  app.post<Linked>('/confirm-address/:token', async (request, reply) => {
    const question = await findQuestion(db, hashOf(request), now())
    if (question?.state !== 'open') return dead(reply, question)
    if (await confirmAddress(db, hashOf(request), now())) return sendPage(reply, confirmedPage())
    return dead(reply, await findQuestion(db, hashOf(request), now()))
  })
}
