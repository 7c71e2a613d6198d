import { type DeliveryWorker, startDeliveryWorker } from '../../control-plane/deliveries/worker.ts'
import { listen } from '../../control-plane/platform/listen.ts'
import type { Mailer } from '../../control-plane/platform/mail.ts'
import type { Db } from '../../control-plane/platform/postgres.ts'
import { createSecrets } from '../../control-plane/platform/secrets.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/log.ts'
import { createMetrics, type Metrics } from '../../shared/metrics.ts'
import type { Teardown } from './teardown.ts'

export type WorkerOptions = {
  trust?: string[]
  relayUrl?: string
  metrics?: Metrics
  mailer?: Mailer
  webhookBurst?: number
}

/** One process's share of the work, with its ear to NOTIFY. */
export function startWorker(
  t: Teardown,
  { url, db, secretKey, ...options }: WorkerOptions & { url: string; db: Db; secretKey: Buffer },
): DeliveryWorker {
  const log = createLog('test', 'silent')
  const worker = startDeliveryWorker({
    db,
    secrets: createSecrets(secretKey),
    egress: createEgress({ allow: ['127.0.0.0/8'], trust: options.trust ?? [] }),
    visitorEgress: createEgress({ allow: ['127.0.0.0/8'], trust: options.trust ?? [] }),
    log,
    metrics: options.metrics ?? createMetrics(),
    publicUrl: 'http://picket.test',
    webhookBurst: options.webhookBurst ?? 1_000_000,
    mailer: options.mailer ?? null,
    relayUrl: options.relayUrl ?? null,
  })
  const listener = listen(
    url,
    ['deliveries', 'relay'],
    channel => (channel === 'relay' ? worker.wakeRelay() : worker.wake()),
    log,
  )
  t.teardown(async () => {
    await listener.stop()
    await worker.stop()
  })
  return worker
}
