import { REGIONS } from '../../../shared/checks/check.ts'
import { decryptSigningSecret } from '../../alerting/channels/config/encrypted-config.ts'
import { signBody } from '../../alerting/deliveries/rendering/signature.ts'
import type { Envelope } from '../../alerting/events/envelope.ts'
import { equalSecrets, type SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { sendError } from '../../foundation/web/server/error-response.ts'
import { notFound, unauthorized } from '../../foundation/web/server/errors.ts'
import { signReceiver, signTarget } from './canary-urls.ts'
import { type CanarySchedule, getLatestOutage, isFailing, parseFailureKinds } from './schedule.ts'
import { findReceiverChannel, insertCanaryAlert } from './store.ts'
import { createTargetResponder } from './target-routes.ts'

const MAX_BODY_BYTES = 65_536
const ANY_HOST = { config: { hosts: 'any' } } as const

/**
 * Outside /api/v1, for probes and deliveries: the target that fails on a schedule, which needs no database, and the
 * receiver of its alerts. Without the key in their address both are 404.
 */
export function canaryRoutes(app: App, { db, secrets, sign }: { db: Db; secrets: SecretCipher; sign: Signer }): void {
  app.setErrorHandler(sendError)
  const respondAsTarget = createTargetResponder()
  // the signature covers the raw bytes
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)

  app.get<{ Params: { region: string } }>('/canary/:region', ANY_HOST, async (request, reply) => {
    const { every, for: length, kinds: named = 'status', key } = request.query as Record<string, unknown>
    const kinds = parseFailureKinds(String(named))
    if (kinds === null) throw notFound('page')
    const schedule = { region: request.params.region, everySeconds: Number(every), forSeconds: Number(length), kinds }
    if (!hasKnownRegion(schedule) || typeof key !== 'string' || !equalSecrets(key, signTarget(schedule, sign))) {
      throw notFound('page')
    }
    const at = now()
    const outage = isFailing(schedule, at) ? getLatestOutage(schedule, at) : null
    return respondAsTarget(reply, outage)
  })

  app.post<{ Params: { key: string } }>(
    '/canary/receive/:key',
    { bodyLimit: MAX_BODY_BYTES, ...ANY_HOST },
    async (request, reply) => {
      const receivedAt = now()
      const receiver = equalSecrets(request.params.key, signReceiver(sign)) ? await findReceiverChannel(db) : null
      const secret = receiver && decryptSigningSecret(receiver, secrets)
      if (secret === null) throw notFound('page')
      const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const signature = String(request.headers['x-service-signature'])
      if (!equalSecrets(signature, signBody(body, secret))) throw unauthorized('the signature does not match the body')
      const alert = parseAlert(body)
      if (alert) await insertCanaryAlert(db, { ...alert, now: receivedAt })
      return reply.header('content-type', 'text/plain; charset=utf-8').send('OK')
    },
  )
}

const hasKnownRegion = (schedule: { region: string }): schedule is CanarySchedule =>
  (REGIONS as readonly string[]).includes(schedule.region)

/** The delivery and the monitor of a signed body; null when it is not about a monitor. */
function parseAlert(body: Buffer): { deliveryId: string; monitorId: string } | null {
  const { delivery_id, data } = JSON.parse(body.toString()) as Envelope
  return 'monitor' in data ? { deliveryId: delivery_id, monitorId: data.monitor.id } : null
}
