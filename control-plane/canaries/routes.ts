import { REGIONS } from '../../shared/check.ts'
import { openSigningSecret } from '../channels/sealed.ts'
import { signBody } from '../deliveries/signature.ts'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { equalSecrets, type Secrets } from '../platform/secrets.ts'
import type { Sign } from '../platform/signer.ts'
import { answerError } from '../web/answer.ts'
import type { App } from '../web/app.ts'
import { notFound, unauthorized } from '../web/errors.ts'
import { receiverKey, targetKey } from './address.ts'
import { readAlert } from './alert.ts'
import { isFailing, latestOutage, parseKinds, type Schedule } from './schedule.ts'
import { findReceiver, insertAlert } from './store.ts'
import { createTarget } from './target-routes.ts'

const BODY_LIMIT_BYTES = 65_536
const ANY_HOST = { config: { hosts: 'any' } } as const

/**
 * Outside /api/v1, for probes and deliveries: a target that fails by plan, answered without any engine, and the receiver
 * of what is told about it. Without the key of its address nothing of either is there.
 */
export function canaryRoutes(app: App, { db, secrets, sign }: { db: Db; secrets: Secrets; sign: Sign }): void {
  app.setErrorHandler(answerError)
  const answerTarget = createTarget()
  // a signature is over the bytes
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)

  app.get<{ Params: { region: string } }>('/canary/:region', ANY_HOST, async (request, reply) => {
    const { every, for: length, kinds: named = 'status', key } = request.query as Record<string, unknown>
    const kinds = parseKinds(String(named))
    if (kinds === null) throw notFound('page')
    const schedule = { region: request.params.region, everySeconds: Number(every), forSeconds: Number(length), kinds }
    if (!isKnown(schedule) || typeof key !== 'string' || !equalSecrets(key, targetKey(schedule, sign))) {
      throw notFound('page')
    }
    const at = now()
    const outage = isFailing(schedule, at) ? latestOutage(schedule, at) : null
    return answerTarget(reply, outage)
  })

  app.post<{ Params: { key: string } }>(
    '/canary/receive/:key',
    { bodyLimit: BODY_LIMIT_BYTES, ...ANY_HOST },
    async (request, reply) => {
      const receivedAt = now()
      const receiver = equalSecrets(request.params.key, receiverKey(sign)) ? await findReceiver(db) : null
      const secret = receiver && openSigningSecret(receiver, secrets)
      if (secret === null) throw notFound('page')
      const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const signature = String(request.headers['x-service-signature'])
      if (!equalSecrets(signature, signBody(body, secret))) throw unauthorized('the signature is not of this body')
      const alert = readAlert(body)
      if (alert) await insertAlert(db, { ...alert, now: receivedAt })
      return reply.header('content-type', 'text/plain; charset=utf-8').send('OK')
    },
  )
}

const isKnown = (schedule: { region: string }): schedule is Schedule =>
  (REGIONS as readonly string[]).includes(schedule.region)
