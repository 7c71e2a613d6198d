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
  /** the region has seen certificates for `STEADY_MS` without such a gap, so those of other regions are recorded too */
  isSteady?: boolean
}

/** What became of certificates to store: the monitors that other transactions have locked, and what PostgreSQL rejected. */
export type CertificateOutcome = {
  locked: string[]
  rejected: { certificate: ObservedCertificate; error: unknown }[]
}

type KnownCertificate = ObservedCertificate & {
  /** since when the region has seen certificates without a gap */
  steadySinceMs: number
  /** `seenAtMs` when it was recorded last; `NOT_STORED`: it is recorded again with the next result */
  recordedAtMs: number
}

/** What has been stored already, by monitor and region. After a restart it costs one statement to fill it again. */
export type KnownCertificates = Map<string, KnownCertificate>

export const getCertificateKey = ({ monitorId, region }: { monitorId: string; region: string }) =>
  `${monitorId} ${region}`

/** A target with several machines may show several certificates in turn. The one that ends first is kept this long. */
const HOLD_MS = 600_000
/** More than two of the longest intervals. */
const STEADY_MS = 3 * 3_600_000
/** A certificate that stays the same is recorded again after 20 to 28 hours, the monitors one after the other. */
const RECORD_AGAIN_MS = 20 * 3_600_000
const RECORD_SPREAD_MS = 8 * 3_600_000
const NOT_STORED = Number.NEGATIVE_INFINITY
const MAX_EXPIRY_MS = Date.UTC(9000, 0)
const MAX_FUTURE_MS = 5_000

/**
 * Records the certificate of a result if it differs from the known one, for expiry to store
 * (docs/design/heartbeats.md#certificates). A certificate that ends later counts after the other was not seen for ten
 * minutes; one that ends earlier counts without delay. A known one is recorded again once when the region becomes
 * steady, and about once a day.
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
  const steadySinceMs = computeSteadySince(before, scheduledAtMs)
  if (before && before.configVersion >= configVersion) {
    if (before.configVersion > configVersion) return
    if (before.fingerprint === fingerprint) {
      before.steadySinceMs = steadySinceMs
      before.seenAtMs = Math.max(before.seenAtMs, scheduledAtMs)
      if (isRecordedAgain(before, key)) record(before)
      return
    }
    const isHeld = validToMs > before.expiresAtMs && scheduledAtMs < before.seenAtMs + HOLD_MS
    if (isHeld || scheduledAtMs < before.seenAtMs) {
      if (before.recordedAtMs === NOT_STORED) record(before)
      return
    }
  }
  if (!isStorable(fingerprint, validToMs)) return
  const seenAtMs = scheduledAtMs
  const seen = { monitorId, region, configVersion, fingerprint, expiresAtMs: validToMs, seenAtMs }
  record({ ...seen, steadySinceMs, recordedAtMs: seenAtMs })

  function record(one: KnownCertificate) {
    const recorded = { ...one, recordedAtMs: one.seenAtMs, isSteady: isSteady(one) }
    known.set(key, recorded)
    noted.set(key, recorded)
  }
}

/**
 * Makes the known certificates of locked monitors be recorded again with the next result of their region. What is known of
 * them stays, so one that ends later still waits until the other was not seen for ten minutes.
 */
export function markNotStored(known: KnownCertificates, locked: ObservedCertificate[]): void {
  for (const one of locked) {
    const before = known.get(getCertificateKey(one))
    if (before) before.recordedAtMs = NOT_STORED
  }
}

const computeSteadySince = (before: KnownCertificate | undefined, scheduledAtMs: number) =>
  before === undefined || scheduledAtMs > before.seenAtMs + STEADY_MS ? scheduledAtMs : before.steadySinceMs

const isSteady = ({ seenAtMs, steadySinceMs }: KnownCertificate) => seenAtMs >= steadySinceMs + STEADY_MS

function isRecordedAgain(one: KnownCertificate, key: string): boolean {
  if (isSteady(one) && !one.isSteady) return true
  const ageMs = one.seenAtMs - one.recordedAtMs
  return ageMs >= RECORD_AGAIN_MS && ageMs >= RECORD_AGAIN_MS + computeFraction(key) * RECORD_SPREAD_MS
}

/** From 0 to 1, always the same for a key. */
const computeFraction = (key: string) =>
  [...key].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 1_000, 0) / 1_000

const isStorable = (fingerprint: string, validToMs: number) =>
  /^[0-9a-f:]{1,128}$/i.test(fingerprint) && validToMs > 0 && validToMs < MAX_EXPIRY_MS
