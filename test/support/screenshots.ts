import { randomBytes, randomUUID } from 'node:crypto'
import { PNG } from 'pngjs'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import {
  createNatsObjectStore,
  type ObjectStoreSettings,
} from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from './database.ts'
import { startNats } from './nats.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant } from './tenant.ts'
import { insertMonitor } from './verdict.ts'

export async function connectStreams(t: Teardown) {
  const nats = await connectNats((await startNats(t)).url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  return nats
}

/** A database and NATS with a monitor, and what the recorder of screenshots needs. */
export async function startScreenshotStore(t: Teardown, bucket?: ObjectStoreSettings) {
  const [{ url }, nats] = await Promise.all([createDatabase(t), connectStreams(t)])
  const db = createPostgres(url, 4)
  t.teardown(() => db.destroy())
  const { projectId } = await insertTenant(db)
  const monitorId = await insertMonitor(db, projectId)
  const objects = createNatsObjectStore(nats, 'SCREENSHOTS', bucket)
  const secrets = createSecretCipher(randomBytes(32))
  return {
    ...{ url, db, nats, projectId, monitorId, objects, secrets },
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
  }
}

/** A picture of 8 × 8 pixels of one colour. */
export function png(grey: number): Buffer {
  const image = new PNG({ width: 8, height: 8 })
  image.data.fill(grey)
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255
  return PNG.sync.write(image)
}

/** A comparison of a page of one colour with the first settings of its monitor. */
export const buildComparison = (
  monitorId: string,
  grey: number,
  scheduledAtMs: number,
  order: Partial<ScreenshotOrder> = {},
): Screenshot & { order: ScreenshotOrder } => ({
  id: randomUUID(),
  probeId: randomUUID(),
  order: {
    ...{ monitorId, region: 'us-east', scheduledAtMs, attempt: 1, kind: ScreenshotKind.COMPARISON, statusCode: 200 },
    ...{ permit: Buffer.alloc(0), configVersion: 1, validSeconds: 3_600, ...order },
  },
  contentType: 'image/png',
  image: png(grey),
  takenAtMs: scheduledAtMs,
})
