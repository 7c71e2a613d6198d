import type { ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/** What a permit is for: this probe, and the check that the screenshot belongs to. */
type PermitScope = { probeId: string; order: Omit<ScreenshotOrder, 'statusCode' | 'permit'> }

/**
 * Lets a probe take the screenshot of a check of another region: it seals nothing but what it is bound to, so that only the control
 * plane can make one, and every process of it can check one.
 */
export const createPermit = (permitted: PermitScope, secrets: SecretCipher): Buffer =>
  secrets.encrypt('', buildBinding(permitted))

export function isPermitted(permit: Uint8Array, permitted: PermitScope, secrets: SecretCipher): boolean {
  try {
    secrets.decrypt(Buffer.from(permit), buildBinding(permitted))
    return true
  } catch {
    return false
  }
}

const buildBinding = ({ probeId, order: { monitorId, region, scheduledAtMs, attempt, kind } }: PermitScope) =>
  `screenshot:${probeId}:${monitorId}:${region}:${scheduledAtMs}:${attempt}:${kind}`
