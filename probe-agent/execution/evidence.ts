import { toCertificate, toCertificateChain } from '../../shared/checks/certificate.ts'
import { type CheckSpec, SAMPLE_BYTES } from '../../shared/checks/check.ts'
import { type Certificate, type Evidence, type Observation, Outcome } from '../../shared/checks/result.ts'
import { isSensitiveName, MASK } from '../../shared/secret-names.ts'
import { buildAuthHeader } from '../checks/auth.ts'

export type CheckArtifacts = { evidence: Evidence | undefined; certificate: Certificate | undefined }

const MAX_HEADERS_LENGTH = 16_384
const MAX_HEADER_VALUE_LENGTH = 1_000
/** Shorter texts are not masked: they would match in many unrelated places. */
const MIN_SECRET_LENGTH = 4

/** The evidence of a failed check; and the certificate when the monitor has `ssl_check`: its own, not that of a target of a redirect. */
export function collectArtifacts(spec: CheckSpec, observation: Observation, outcome: Outcome): CheckArtifacts {
  const isFailed = outcome === Outcome.DOWN || outcome === Outcome.UNKNOWN
  const certificate = observation.firstCertificate ?? observation.certificate
  return {
    evidence: isFailed ? buildEvidence(spec, observation) : undefined,
    certificate: spec.sslCheck && certificate ? toCertificate(certificate) : undefined,
  }
}

/** Headers, the beginning of the body and the certificate chain. Secrets of the monitor are masked. */
function buildEvidence(spec: CheckSpec, { headers, body, certificate }: Observation): Evidence | undefined {
  if (headers === null && certificate === null && !body?.length) return undefined
  const secrets = collectSecrets(spec)
  return {
    headers: maskEvidenceHeaders(headers ?? {}, secrets),
    body: takeSample(body ?? Buffer.alloc(0), secrets),
    chain: certificate ? toCertificateChain(certificate) : [],
  }
}

function maskEvidenceHeaders(headers: Record<string, string>, secrets: string[]): Record<string, string> {
  const masked: Record<string, string> = {}
  let size = 0
  for (const [name, value] of Object.entries(headers)) {
    const shown = isSensitiveName(name) ? MASK : replaceSecrets(value, secrets).slice(0, MAX_HEADER_VALUE_LENGTH)
    size += name.length + shown.length
    if (size > MAX_HEADERS_LENGTH) break
    // defineProperty, because a server may send a header named `__proto__`
    Object.defineProperty(masked, name, { value: shown, enumerable: true })
  }
  return masked
}

function takeSample(body: Buffer, secrets: string[]): Buffer {
  // Latin-1 maps every byte to one character and back without loss
  const longest = Math.max(0, ...secrets.map(({ length }) => length))
  const text = replaceSecrets(body.toString('latin1', 0, SAMPLE_BYTES + longest), secrets)
  return Buffer.from(removeTruncatedSecret(text.slice(0, SAMPLE_BYTES), secrets), 'latin1')
}

function replaceSecrets(text: string, secrets: string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
}

/** Removes the beginning of a secret at the end of a truncated text. */
function removeTruncatedSecret(text: string, secrets: string[]): string {
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= MIN_SECRET_LENGTH; length--) {
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length)
    }
  }
  return text
}

/** Secrets that the monitor sends, as UTF-8 bytes in Latin-1, longest first. They are masked when the target echoes them. */
function collectSecrets({ headers, auth }: CheckSpec): string[] {
  const sent = Object.entries(headers).flatMap(([name, value]) => (isSensitiveName(name) ? [value] : []))
  const header = buildAuthHeader(auth)
  if (header) sent.push(header[1])
  const { kind } = auth ?? {}
  if (kind?.$case === 'basic') sent.push(kind.value.password)
  const parts = sent.flatMap(value => [value, value.replace(/^(basic|bearer|token) +/i, '')])
  return parts
    .map(secret => Buffer.from(secret).toString('latin1'))
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
}
