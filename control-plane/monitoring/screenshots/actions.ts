import { ScreenshotKind, ScreenshotOrder } from '../../../proto/gen/probe/v1/screenshot.ts'
import { type DifferenceHint, differenceHintSubject, secondPictureSubject } from '../../../shared/nats/subjects.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import {
  acceptComparisons,
  findBaseline,
  lockBaseline,
  setBaseline,
  setDifference,
  setUncompared,
} from './baseline-store.ts'
import { computeExpiry, isConfirmed, isOutdated, type PageSettings } from './comparison.ts'
import { readDifference } from './difference/difference-reader.ts'
import { buildStoreKey, type ReceivedScreenshot, type ScreenshotReceipt } from './intake/received-screenshot.ts'
import { classifyScreenshot } from './intake/report-access.ts'
import { findScreenshotMonitor, insertScreenshot } from './store.ts'

export type ScreenshotTools = { db: Db; nats: Nats; objects: ObjectStore; secrets: SecretCipher; log: Log }

export type IntakeOutcome = 'kept' | 'unknown' | 'foreign' | 'outdated'

/**
 * Stores a screenshot that a probe sent: the bytes, the row, and for a comparison its difference from the baseline. The
 * first comparison becomes the baseline. `unknown`: the monitor does not exist or left the region; `foreign`: the probe may
 * not report this; `outdated`: a comparison of settings that no longer apply. The same screenshot a second time changes
 * nothing. Throws an ImageError for a comparison that is not a PNG of a page, and a StoreLimitError.
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
  if (isComparison && isOutdated(order.configVersion, monitor)) return 'outdated'
  const compared = isComparison ? await compareUnlocked(tools, monitor, order, image) : null
  const storeKey = buildStoreKey(monitor.projectId, screenshot)
  await objects.put(storeKey, image, contentType)
  const hint = await db.transaction(async tx => {
    const isNew = await insertScreenshot(tx, {
      ...{ id, monitorId, region, takenIn: receipt.takenIn, probeId, attempt, contentType, storeKey },
      projectId: monitor.projectId,
      scheduledAt: new Date(order.scheduledAtMs),
      kind: isComparison ? 'comparison' : 'failure',
      sizeBytes: image.length,
      difference: null,
      createdAt: now(),
    })
    if (!isNew || compared === null) return null
    return await compareWithBaseline(tx, tools, {
      ...{ screenshot, image, compared },
      settings: monitor,
      arrivedAtMs: receipt.arrivedAtMs,
    })
  })
  if (hint === 'unconfirmed') requestSecondPicture(tools.nats, order)
  else if (hint) notifyProbes(tools.nats, region, hint)
  return 'kept'
}

type ComparedMonitor = PageSettings & { projectId: string }

/** The difference of a picture from that with the key `storeKey`. Null: there is no such file, or no baseline. */
type ComparedPicture = { storeKey: string | null; difference: number | null }

/** Compares a picture with the baseline before the transaction, which would hold the baseline and a connection meanwhile. */
async function compareUnlocked(
  { db, objects }: ScreenshotTools,
  monitor: ComparedMonitor,
  { monitorId, region }: ScreenshotOrder,
  image: Buffer,
): Promise<ComparedPicture> {
  const baseline = await findBaseline(db, monitorId, region)
  const storeKey = baseline?.url === monitor.url ? baseline.storeKey : null
  return comparePicture(objects, monitor.projectId, storeKey, image)
}

async function comparePicture(
  objects: ObjectStore,
  projectId: string,
  storeKey: string | null,
  image: Buffer,
): Promise<ComparedPicture> {
  const before = storeKey === null ? null : await objects.get(storeKey)
  return { storeKey, difference: await readDifference(projectId, before, image) }
}

type Comparison = {
  screenshot: ReceivedScreenshot
  image: Buffer
  compared: ComparedPicture
  settings: ComparedMonitor
  arrivedAtMs: number
}

/**
 * Returns what the probes of the region are sent: the difference from the baseline, or none for a screenshot that becomes the
 * baseline, the first of its region or of another address. `unconfirmed`: a second picture is needed. Null: nothing changes.
 */
async function compareWithBaseline(
  tx: Tx,
  { objects, log }: ScreenshotTools,
  { screenshot, image, compared: earlier, settings, arrivedAtMs }: Comparison,
): Promise<DifferenceHint | 'unconfirmed' | null> {
  const { monitorId, region, validSeconds, configVersion = 0 } = screenshot.order
  const comparedAt = new Date(arrivedAtMs)
  const compared = { monitorId, region, screenshotId: screenshot.id, configVersion, comparedAt, now: now() }
  const baseline = await lockBaseline(tx, monitorId, region)
  // an older picture that was delivered again
  if (baseline?.comparedAt && baseline.comparedAt > comparedAt) return null
  if (baseline?.url !== settings.url) {
    await setBaseline(tx, { ...compared, url: settings.url })
    return { monitorId, difference: null, configVersion }
  }
  const { storeKey } = baseline
  const isSameBaseline = earlier.storeKey === storeKey
  // another picture was accepted meanwhile
  const { difference } = isSameBaseline ? earlier : await comparePicture(objects, settings.projectId, storeKey, image)
  if (difference === null) {
    log.warn(
      { event: 'baseline_missing', monitor_id: monitorId, region, key: storeKey },
      'the file of a baseline is missing; POST /monitors/{id}/screenshots/baseline accepts the newest picture instead',
    )
    await setUncompared(tx, compared)
    return null
  }
  const validUntilMs = computeExpiry(arrivedAtMs, validSeconds)
  const counts = isConfirmed(baseline, difference, settings, arrivedAtMs)
  await setDifference(tx, { ...compared, difference, expiresAt: new Date(validUntilMs), isConfirmed: counts })
  return counts ? { monitorId, difference, configVersion, validUntilMs } : 'unconfirmed'
}

/** Makes the newest comparison of each region its baseline. Returns the regions that have a baseline. */
export async function acceptBaseline({ db, nats }: Pick<ScreenshotTools, 'db' | 'nats'>, monitorId: string) {
  const { accepted, deleted } = await db.transaction(tx => acceptComparisons(tx, monitorId, now()))
  for (const region of [...accepted, ...deleted]) notifyProbes(nats, region, { monitorId, difference: null })
  return accepted
}

/** Publishes a hint. A probe that misses it learns the difference from the next one or from its assignments. */
function notifyProbes(nats: Nats, region: string, hint: DifferenceHint): void {
  nats.connection.publish(differenceHintSubject(region), JSON.stringify(hint))
}

/** When the request is lost, the next comparison is the second picture. */
function requestSecondPicture(nats: Nats, order: ScreenshotOrder): void {
  nats.connection.publish(secondPictureSubject(order.region), ScreenshotOrder.encode(order).finish())
}
