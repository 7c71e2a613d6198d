import type { Result } from '../../../../shared/checks/result.ts'

/** The certificate that a region saw at the target of a monitor. */
export type ObservedCertificate = {
  monitorId: string
  region: string
  configVersion: number
  fingerprint: string
  expiresAtMs: number
  /** the slot of the newest check that saw it */
  seenAtMs: number
}

/** What has been stored already, by monitor and region. After a restart it costs one statement to fill it again. */
export type KnownCertificates = Map<string, ObservedCertificate>

export const getCertificateKey = ({ monitorId, region }: { monitorId: string; region: string }) =>
  `${monitorId} ${region}`

/** A target with several machines may show several certificates in turn. The one that ends first is kept this long. */
const HOLD_MS = 600_000
const MAX_EXPIRY_MS = Date.UTC(9000, 0)
const MAX_FUTURE_MS = 5_000

/**
 * Records the certificate of a result if it differs from the known one, for expiry to store
 * (docs/design/heartbeats.md#certificates). A certificate that ends later counts after the other was not seen for ten
 * minutes; one that ends earlier counts without delay.
 */
export function recordCertificate(
  known: KnownCertificates,
  noted: Map<string, ObservedCertificate>,
  region: string,
  result: Result,
  takenAtMs: number,
): void {
  const { certificate, monitorId, configVersion, scheduledAtMs } = result
  if (!certificate || scheduledAtMs > takenAtMs + MAX_FUTURE_MS) return
  const { fingerprint, validToMs } = certificate
  const key = getCertificateKey({ monitorId, region })
  const before = known.get(key)
  if (before && before.configVersion >= configVersion) {
    if (before.configVersion > configVersion) return
    if (before.fingerprint === fingerprint) {
      before.seenAtMs = Math.max(before.seenAtMs, scheduledAtMs)
      return
    }
    const isHeld = validToMs > before.expiresAtMs && scheduledAtMs < before.seenAtMs + HOLD_MS
    if (isHeld || scheduledAtMs < before.seenAtMs) return
  }
  if (!isStorable(fingerprint, validToMs)) return
  const seen = { monitorId, region, configVersion, fingerprint, expiresAtMs: validToMs, seenAtMs: scheduledAtMs }
  known.set(key, seen)
  noted.set(key, seen)
}

const isStorable = (fingerprint: string, validToMs: number) =>
  /^[0-9a-f:]{1,128}$/i.test(fingerprint) && validToMs > 0 && validToMs < MAX_EXPIRY_MS
