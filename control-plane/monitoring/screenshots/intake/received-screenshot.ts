import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { REGIONS } from '../../../../shared/checks/check.ts'

/** 1 MiB; a probe keeps below it, because one NATS message holds a screenshot. */
const MAX_SCREENSHOT_BYTES = 1024 * 1024
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The first bytes of each kind of picture; what a probe says of it is not taken on trust. */
const MAGIC: Record<string, string> = { 'image/jpeg': 'ffd8ff', 'image/png': '89504e470d0a1a0a' }
const SUFFIX: Record<string, string> = { 'image/jpeg': 'jpg', 'image/png': 'png' }

export type ReceivedScreenshot = Screenshot & { order: ScreenshotOrder }
/** How it came: the region whose probes may publish on its subject, and when JetStream took it. */
export type ScreenshotReceipt = { takenIn: string; arrivedAtMs: number }

/** Why a screenshot that came from a probe is not kept, or null. */
export function findScreenshotProblem(screenshot: Screenshot): string | null {
  const { id, probeId, order, contentType, image } = screenshot
  if (!order) return 'it belongs to no check'
  if (![id, probeId, order.monitorId].every(text => UUID.test(text))) return 'an id is not a UUID'
  if (!(REGIONS as readonly string[]).includes(order.region)) return 'there is no such region'
  if (!(order.scheduledAtMs > 0) || order.attempt > 100) return 'there is no such check'
  if (image.length > MAX_SCREENSHOT_BYTES) return 'it is larger than 1 MiB'
  const magic = MAGIC[contentType]
  if (
    !magic ||
    Buffer.from(image)
      .subarray(0, magic.length / 2)
      .toString('hex') !== magic
  )
    return 'it is no picture'
  if (order.kind === ScreenshotKind.COMPARISON && contentType !== 'image/png') return 'a comparison is a PNG'
  return null
}

/** Where its bytes are kept. */
export const buildStoreKey = (projectId: string, { id, order, contentType }: ReceivedScreenshot) =>
  `${projectId}/${order.monitorId}/${id}.${SUFFIX[contentType]}`
