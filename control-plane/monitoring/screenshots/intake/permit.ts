import type { ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'

/** What a permit is bound to: a probe, and the check to which the screenshot belongs. */
type PermitScope = { probeId: string; order: Omit<ScreenshotOrder, 'statusCode' | 'permit'> }

/**
 * Creates the permit that allows a probe to report the screenshot of a check of another region. It encrypts an empty text
 * with the scope as associated data, so only the control plane can create one, and each of its processes can verify it.
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
