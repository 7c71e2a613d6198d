import type { ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { Secrets } from '../platform/secrets.ts'

/** What a permit is for: this probe, and the check that the screenshot belongs to. */
type Permitted = { probeId: string; order: Omit<ScreenshotOrder, 'statusCode' | 'permit'> }

/**
 * Lets a probe take the screenshot of a check of another region: it seals nothing but what it is bound to, so that only the control
 * plane can make one, and every process of it can check one.
 */
export const permitFor = (permitted: Permitted, secrets: Secrets): Buffer => secrets.seal('', boundTo(permitted))

export function isPermitted(permit: Uint8Array, permitted: Permitted, secrets: Secrets): boolean {
  try {
    secrets.open(Buffer.from(permit), boundTo(permitted))
    return true
  } catch {
    return false
  }
}

const boundTo = ({ probeId, order: { monitorId, region, scheduledAtMs, attempt, kind } }: Permitted) =>
  `screenshot:${probeId}:${monitorId}:${region}:${scheduledAtMs}:${attempt}:${kind}`
