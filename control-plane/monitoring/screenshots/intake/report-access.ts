import { ScreenshotKind } from '../../../../proto/gen/probe/v1/screenshot.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import {
  type CheckedRegions,
  classifyReport,
  type ReportEligibility,
} from '../../monitors/report-regions/checked-regions.ts'
import { isPermitted } from './permit.ts'
import type { ReceivedScreenshot, ScreenshotReceipt } from './received-screenshot.ts'

/**
 * Returns whether a probe of the region `takenIn` may report this screenshot (docs/design/screenshots.md#permission). A
 * comparison can change a status, so it is accepted from probes of its own region only. A failure of another region is
 * accepted when the control plane asked this probe for it.
 */
export function classifyScreenshot(
  monitor: CheckedRegions,
  { takenIn, arrivedAtMs }: ScreenshotReceipt,
  screenshot: ReceivedScreenshot,
  secrets: SecretCipher,
): ReportEligibility {
  const { order, probeId } = screenshot
  const isOwnRegion = order.region === takenIn
  const isRequested = order.kind === ScreenshotKind.FAILURE && isPermitted(order.permit, { probeId, order }, secrets)
  if (!isOwnRegion && !isRequested) return 'foreign'
  return classifyReport(monitor, order.region, { scheduledAtMs: order.scheduledAtMs, arrivedAtMs })
}
