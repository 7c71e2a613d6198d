import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { REGIONS } from '../../../../shared/checks/check.ts'

/** 1 MiB. Probes send less, because a screenshot must fit into one NATS message. */
const MAX_SCREENSHOT_BYTES = 1024 * 1024
/** The last time that a Date can have. */
const MAX_TIME_MS = 8.64e15
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The first bytes of each content type. The type that a probe sends is verified with them. */
const MAGIC: Record<string, string> = { 'image/jpeg': 'ffd8ff', 'image/png': '89504e470d0a1a0a' }
const SUFFIX: Record<string, string> = { 'image/jpeg': 'jpg', 'image/png': 'png' }

export type ReceivedScreenshot = Screenshot & { order: ScreenshotOrder }
/** How a screenshot arrived: `takenIn` is the region whose probes may publish on its subject, `arrivedAtMs` JetStream's time. */
export type ScreenshotReceipt = { takenIn: string; arrivedAtMs: number }

/** Returns why a screenshot that a probe sent is refused, or null. */
export function findScreenshotProblem(screenshot: Screenshot): string | null {
  const { id, probeId, order, contentType, image } = screenshot
  if (!order) return 'the check is missing'
  if (![id, probeId, order.monitorId].every(text => UUID.test(text))) return 'an id is not a UUID'
  if (!(REGIONS as readonly string[]).includes(order.region)) return 'the region does not exist'
  if (!(order.scheduledAtMs > 0 && order.scheduledAtMs <= MAX_TIME_MS) || order.attempt > 100)
    return 'the time or the attempt of the check is invalid'
  if (image.length > MAX_SCREENSHOT_BYTES) return 'the image is larger than 1 MiB'
  const magic = MAGIC[contentType]
  if (
    !magic ||
    Buffer.from(image)
      .subarray(0, magic.length / 2)
      .toString('hex') !== magic
  )
    return 'the image is not a JPEG or PNG'
  if (order.kind === ScreenshotKind.COMPARISON && contentType !== 'image/png') return 'a comparison must be a PNG'
  return null
}

/** Returns the key of the image in the object store. */
export const buildStoreKey = (projectId: string, { id, order, contentType }: ReceivedScreenshot) =>
  `${projectId}/${order.monitorId}/${id}.${SUFFIX[contentType]}`
