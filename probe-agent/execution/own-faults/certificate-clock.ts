import { toCertificateChain } from '../../../shared/checks/certificate.ts'
import type { Observation } from '../../../shared/checks/check.ts'
import { type Certificate, type CheckError, FailureSource } from '../../../shared/checks/result.ts'
import { CERTIFICATE_EXPIRED, CERTIFICATE_NOT_YET_VALID } from '../../../shared/egress/failure.ts'

/** A smaller difference has no effect on a certificate, and is not known exactly. */
const MAX_DIFFERENCE_MS = 60_000

/**
 * The error of a check, after the dates of its certificate were judged by the control plane's clock. TLS judges them by the
 * machine's clock, which may be wrong (docs/design/probes.md#own-faults): a valid certificate that it refuses makes the result
 * unknown, and one that it accepts although it is not valid is an error of the target. A server may send certificates that
 * the trust does not need, so one that has expired by both clocks changes nothing. Both times are ms since 1970.
 */
export function judgeCertificate(
  { certificate, error }: Pick<Observation, 'certificate' | 'error'>,
  nowMs: number,
  machineMs: number,
): CheckError | null {
  if (!certificate || Math.abs(nowMs - machineMs) <= MAX_DIFFERENCE_MS) return error
  const chain = toCertificateChain(certificate)
  if (error === null) {
    const wrong = findDateError(
      chain.filter(one => isValidAt(one, machineMs)),
      nowMs,
    )
    return wrong === null ? null : { source: FailureSource.TARGET, code: 'tls_error', message: wrong }
  }
  const isAboutDates = [CERTIFICATE_EXPIRED, CERTIFICATE_NOT_YET_VALID].includes(error.message)
  if (!isAboutDates || !isRefusedByClock(chain, nowMs, machineMs)) return error
  const minutes = Math.round((machineMs - nowMs) / 60_000)
  const message = `the clock of the probe's machine is ${Math.abs(minutes)} min ${minutes > 0 ? 'ahead' : 'behind'}, so it cannot judge the certificate`
  return { source: FailureSource.INTERNAL, code: 'wrong_clock', message }
}

/** Whether the wrong clock can be why the machine refused a chain for its dates. */
function isRefusedByClock(chain: Certificate[], nowMs: number, machineMs: number): boolean {
  const [leaf] = chain
  const valid = chain.filter(one => isValidAt(one, nowMs))
  if (leaf === undefined || !valid.includes(leaf)) return false
  return valid.length === chain.length || valid.some(one => !isValidAt(one, machineMs))
}

const isValidAt = ({ validFromMs, validToMs }: Certificate, ms: number) => validFromMs <= ms && ms <= validToMs

/** What is wrong with the dates of certificates; null when all are valid. */
function findDateError(certificates: Certificate[], nowMs: number): string | null {
  if (certificates.some(({ validToMs }) => validToMs < nowMs)) return CERTIFICATE_EXPIRED
  return certificates.some(({ validFromMs }) => validFromMs > nowMs) ? CERTIFICATE_NOT_YET_VALID : null
}
