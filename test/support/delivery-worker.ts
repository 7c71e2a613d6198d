import type { DeliveryTiming } from '../../control-plane/alerting/deliveries/queue/lanes.ts'
import { type DeliveryWorker, startDeliveryWorker } from '../../control-plane/alerting/deliveries/worker.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import type { Mailer } from '../../control-plane/foundation/platform/mail/mailer.ts'
import type { Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listenForNotifications } from '../../control-plane/foundation/platform/postgres/listener.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS } from './wait.ts'

export type WorkerOptions = {
  trust?: string[]
  /** replaces the look-up of names */
  resolver?: (name: string) => Promise<string[]>
  relayUrl?: string
  metrics?: Metrics
  mailer?: Mailer
  webhookBurst?: number
  timing?: DeliveryTiming
}

/**
 * No attempt ends because of its duration, however slow the machine is. A receiver that hangs must close before the worker
 * stops, because a worker waits for its requests.
 */
export const PATIENT_DELIVERY: DeliveryTiming = { attemptTimeoutMs: 10 * HANG_MS, leaseMs: 12 * HANG_MS }

/** The delivery worker of one process, with a listener for NOTIFY. */
export function startWorker(
  t: Teardown,
  { url, db, secretKey, ...options }: WorkerOptions & { url: string; db: Db; secretKey: Buffer },
): DeliveryWorker {
  const log = createLog('test', 'silent')
  const rules = {
    allow: ['127.0.0.0/8'],
    trust: options.trust ?? [],
    ...(options.resolver && { resolver: options.resolver }),
  }
  const worker = startDeliveryWorker(
    {
      db,
      secrets: createSecretCipher(secretKey),
      egress: createEgress(rules),
      visitorEgress: createEgress(rules),
      log,
      metrics: options.metrics ?? createMetrics(),
      publicUrl: 'http://picket.test',
      webhookBurst: options.webhookBurst ?? 1_000_000,
      mailer: options.mailer ?? null,
      relayUrl: options.relayUrl ?? null,
    },
    options.timing,
  )
  const listener = listenForNotifications(
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
