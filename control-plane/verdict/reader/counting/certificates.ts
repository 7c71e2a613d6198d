import { type Certificate, Outcome, type Result } from '../../../../shared/checks/result.ts'

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

/** A certificate that TLS refused, as long as it does not count. */
type UnconfirmedCertificate = { fingerprint: string; expiresAtMs: number; sinceMs: number; seenAtMs: number }

/** By monitor and region. After a restart it costs one statement to fill `stored` again. */
export type KnownCertificates = {
  stored: Map<string, KnownCertificate>
  unconfirmed: Map<string, UnconfirmedCertificate>
}

export const createKnownCertificates = (): KnownCertificates => ({ stored: new Map(), unconfirmed: new Map() })

const getCertificateKey = ({ monitorId, region }: { monitorId: string; region: string }) => `${monitorId} ${region}`

/**
 * A target with several machines may show several certificates in turn. The one that ends first is kept this long. One that
 * TLS refuses has to be seen for this long.
 */
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
 * minutes; one that ends earlier counts without delay; one that TLS refused has to be confirmed. A known one is recorded
 * again once when the region becomes steady, and about once a day. `regions`: those of the monitor.
 */
export function recordCertificate(
  known: KnownCertificates,
  noted: Map<string, ObservedCertificate>,
  { region, regions }: { region: string; regions: readonly string[] },
  result: Result,
  takenAtMs: number,
): void {
  const { certificate, monitorId, configVersion, scheduledAtMs } = result
  if (!certificate || !isEvidence(result) || scheduledAtMs > takenAtMs + MAX_FUTURE_MS) return
  const { fingerprint, validToMs } = certificate
  const key = getCertificateKey({ monitorId, region })
  const before = known.stored.get(key)
  if (before && before.configVersion > configVersion) return
  const isSameVersion = before?.configVersion === configVersion
  const steadySinceMs = computeSteadySince(before, scheduledAtMs)
  if (isTrusted(result)) known.unconfirmed.delete(key)
  if (isSameVersion && before.fingerprint === fingerprint) {
    before.steadySinceMs = steadySinceMs
    before.seenAtMs = Math.max(before.seenAtMs, scheduledAtMs)
    if (isRecordedAgain(before, key)) record(before)
    return
  }
  const otherKeys = regions
    .filter(other => other !== region)
    .map(other => getCertificateKey({ monitorId, region: other }))
  const isOlder = isSameVersion && scheduledAtMs < before.seenAtMs
  const isCounted =
    !isOlder &&
    isStorable(certificate) &&
    (isTrusted(result) ||
      before?.fingerprint === fingerprint ||
      confirmUntrusted(known, key, otherKeys, result, certificate))
  const isHeld = isSameVersion && validToMs > before.expiresAtMs && scheduledAtMs < before.seenAtMs + HOLD_MS
  if (!isCounted || isHeld) {
    if (isSameVersion && before.recordedAtMs === NOT_STORED) record(before)
    return
  }
  known.unconfirmed.delete(key)
  const seenAtMs = scheduledAtMs
  const seen = { monitorId, region, configVersion, fingerprint, expiresAtMs: validToMs, seenAtMs }
  record({ ...seen, steadySinceMs, recordedAtMs: seenAtMs })

  function record(one: KnownCertificate) {
    const recorded = { ...one, recordedAtMs: one.seenAtMs, isSteady: isSteady(one) }
    known.stored.set(key, recorded)
    noted.set(key, recorded)
  }
}

/** What may be a fault of the probe or of its network shows nothing about the target. */
const isEvidence = ({ outcome, doubted }: Result) => outcome !== Outcome.UNKNOWN && !doubted

/**
 * Whether TLS accepted the certificate for the host. One that has expired is never trusted: OpenSSL reports the date first,
 * also for a self-signed certificate, and then Node does not compare the host.
 */
const isTrusted = ({ error }: Result) => error?.code !== 'tls_error'

/**
 * Remembers that TLS refused a certificate, and returns whether it counts. It may be the one of a proxy or a portal in front
 * of one probe, so another region has to see it too, or this region for ten minutes without a trusted one. Of several in
 * turn, the one that ends first is remembered.
 */
function confirmUntrusted(
  { stored, unconfirmed }: KnownCertificates,
  key: string,
  otherKeys: string[],
  { scheduledAtMs }: Result,
  { fingerprint, validToMs }: Certificate,
): boolean {
  const isRecent = (one: { seenAtMs: number }) => scheduledAtMs <= one.seenAtMs + STEADY_MS
  const found = unconfirmed.get(key)
  const before = found && isRecent(found) ? found : null
  if (before?.fingerprint === fingerprint) {
    before.sinceMs = Math.min(before.sinceMs, scheduledAtMs)
    before.seenAtMs = Math.max(before.seenAtMs, scheduledAtMs)
    if (scheduledAtMs >= before.sinceMs + HOLD_MS) return true
  } else if (!before || validToMs <= before.expiresAtMs || scheduledAtMs >= before.seenAtMs + HOLD_MS) {
    const times = { sinceMs: scheduledAtMs, seenAtMs: scheduledAtMs }
    unconfirmed.set(key, { fingerprint, expiresAtMs: validToMs, ...times })
  }
  const isSame = (one: UnconfirmedCertificate | KnownCertificate | undefined) =>
    one !== undefined && one.fingerprint === fingerprint && isRecent(one)
  return otherKeys.some(other => isSame(stored.get(other)) || isSame(unconfirmed.get(other)))
}

/**
 * Makes the known certificates of locked monitors be recorded again with the next result of their region. What is known of
 * them stays, so one that ends later still waits until the other was not seen for ten minutes.
 */
export function markNotStored(known: KnownCertificates, locked: ObservedCertificate[]): void {
  for (const one of locked) {
    const before = known.stored.get(getCertificateKey(one))
    if (before) before.recordedAtMs = NOT_STORED
  }
}

/** Drops what is known of a monitor that was deleted. */
export function forgetCertificates(known: KnownCertificates, monitorId: string, regions: readonly string[]): void {
  for (const region of regions) {
    const key = getCertificateKey({ monitorId, region })
    known.stored.delete(key)
    known.unconfirmed.delete(key)
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

const isStorable = ({ fingerprint, validToMs }: Certificate) =>
  /^[0-9a-f:]{1,128}$/i.test(fingerprint) && validToMs > 0 && validToMs < MAX_EXPIRY_MS
