import { ScreenshotKind } from '../../../proto/gen/probe/v1/screenshot.ts'
import { type DifferenceHint, differenceHintSubject } from '../../../shared/nats/subjects.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { acceptComparisons, lockBaseline, setBaseline, setDifference } from './baseline-store.ts'
import { buildStoreKey, type ReceivedScreenshot, type ScreenshotReceipt } from './intake/received-screenshot.ts'
import { classifyScreenshot } from './intake/report-access.ts'
import { computeDifference, decodePage, type PageImage } from './page-difference.ts'
import { findScreenshotMonitor, insertScreenshot } from './store.ts'

export type ScreenshotTools = { db: Db; nats: Nats; objects: ObjectStore; secrets: SecretCipher }

export type IntakeOutcome = 'kept' | 'unknown' | 'foreign'

/**
 * Stores a screenshot that a probe sent: the bytes, the row, and for a comparison its difference from the baseline. The
 * first comparison becomes the baseline. `unknown`: the monitor does not exist or left the region; `foreign`: the probe may
 * not report this. The same screenshot a second time changes nothing. Throws an ImageError for a comparison that is not a
 * PNG of a page.
 */
export async function storeScreenshot(
  tools: ScreenshotTools,
  receipt: ScreenshotReceipt,
  screenshot: ReceivedScreenshot,
): Promise<IntakeOutcome> {
  const { db, objects } = tools
  const { id, probeId, order, contentType } = screenshot
  const { monitorId, region, attempt } = order
  const monitor = await findScreenshotMonitor(db, monitorId)
  if (monitor === null) return 'unknown'
  const eligibility = classifyScreenshot(monitor, receipt, screenshot, tools.secrets)
  if (eligibility !== 'own') return eligibility === 'left' ? 'unknown' : 'foreign'
  const image = Buffer.from(screenshot.image)
  const isComparison = order.kind === ScreenshotKind.COMPARISON
  const page = isComparison ? decodePage(image) : null
  const storeKey = buildStoreKey(monitor.projectId, screenshot)
  await objects.put(storeKey, image, contentType)
  const compared = await db.transaction(async tx => {
    const isNew = await insertScreenshot(tx, {
      ...{ id, monitorId, region, takenIn: receipt.takenIn, probeId, attempt, contentType, storeKey },
      projectId: monitor.projectId,
      scheduledAt: new Date(order.scheduledAtMs),
      kind: isComparison ? 'comparison' : 'failure',
      sizeBytes: image.length,
      difference: null,
      createdAt: now(),
    })
    if (!isNew || page === null) return null
    return { difference: await compareWithBaseline(tx, objects, { ...order, id, page, url: monitor.url }) }
  })
  if (compared) notifyProbes(tools.nats, region, { monitorId, ...compared })
  return 'kept'
}

type ScreenshotComparison = { id: string; monitorId: string; region: string; url: string; page: PageImage }

/** Returns null when the screenshot becomes the baseline: the first of its region, or the first of another address. */
async function compareWithBaseline(
  tx: Tx,
  objects: ObjectStore,
  { id, monitorId, region, url, page }: ScreenshotComparison,
): Promise<number | null> {
  const key = { monitorId, region, screenshotId: id, now: now() }
  const baseline = await lockBaseline(tx, monitorId, region)
  if (baseline?.screenshotId === id) return null
  const bytes = baseline?.url === url ? await objects.get(baseline.storeKey) : null
  if (bytes === null) {
    await setBaseline(tx, { ...key, url })
    return null
  }
  const difference = computeDifference(decodePage(bytes), page)
  await setDifference(tx, { ...key, difference })
  return difference
}

/** Makes the newest comparison of each region its baseline. Returns the regions that have a baseline. */
export async function acceptBaseline({ db, nats }: Pick<ScreenshotTools, 'db' | 'nats'>, monitorId: string) {
  const regions = await db.transaction(tx => acceptComparisons(tx, monitorId, now()))
  for (const region of regions) notifyProbes(nats, region, { monitorId, difference: null })
  return regions
}

/** Publishes a hint. A probe that misses it learns the difference from the next one or from its assignments. */
function notifyProbes(nats: Nats, region: string, hint: DifferenceHint): void {
  nats.connection.publish(differenceHintSubject(region), JSON.stringify(hint))
}
