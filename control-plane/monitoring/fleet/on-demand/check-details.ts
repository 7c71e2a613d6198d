import { Type } from 'typebox'
import { decodeBody } from '../../../../shared/checks/body-text.ts'
import type { Certificate, DnsAnswer, Evidence, PingStats, Result } from '../../../../shared/checks/result.ts'
import { nullable, Timestamp } from '../../../foundation/web/validation/schemas.ts'

const Milliseconds = Type.Number({ description: 'In milliseconds, with up to 3 decimals.' })

const CertificateRecord = Type.Object(
  {
    subject: Type.String(),
    issuer: Type.String(),
    valid_from: Timestamp,
    valid_to: Timestamp,
    names: Type.Array(Type.String(), { description: 'The hosts for which the certificate is valid.' }),
    fingerprint: Type.String({ description: 'SHA-256 in hexadecimal.' }),
  },
  { title: 'Certificate' },
)

const EvidenceRecord = Type.Object({
  headers: Type.Record(Type.String(), Type.String(), { description: 'Headers of the answer, with secrets masked.' }),
  body: Type.String({ description: 'The first 4 kB of the answer as text.' }),
  chain: Type.Array(CertificateRecord, { description: 'Certificates of the target, its own first.' }),
})

const PingRecord = Type.Object({
  sent: Type.Integer(),
  received: Type.Integer(),
  loss_percent: Type.Number(),
  rtt_min_ms: Milliseconds,
  rtt_avg_ms: Milliseconds,
  rtt_max_ms: Milliseconds,
})

const DnsRecord = Type.Object({
  rcode: Type.String({ description: 'For example NOERROR or NXDOMAIN.' }),
  server: Type.String(),
  records: Type.Array(
    Type.Object({
      type: Type.String(),
      name: Type.String(),
      ttl_seconds: Type.Integer(),
      value: Type.String({ description: 'In the format of a zone file.' }),
    }),
  ),
})

/** The details that only some checks have; null for all others. */
export const checkDetailsSchema = {
  evidence: nullable(EvidenceRecord),
  certificate: nullable(CertificateRecord),
  ping: nullable(PingRecord),
  dns: nullable(DnsRecord),
}

export const NO_CHECK_DETAILS = { evidence: null, certificate: null, ping: null, dns: null } as const

export function toCheckDetails({ evidence, certificate, ping, dns }: Result) {
  return {
    evidence: evidence ? toEvidenceResponse(evidence) : null,
    certificate: certificate ? toCertificateResponse(certificate) : null,
    ping: ping ? toPingResponse(ping) : null,
    dns: dns ? toDnsResponse(dns) : null,
  }
}

function toEvidenceResponse({ headers, body, chain }: Evidence) {
  const text = decodeBody({ headers, body: Buffer.from(body) })
  return { headers, body: text, chain: chain.map(toCertificateResponse) }
}

function toCertificateResponse({ subject, issuer, validFromMs, validToMs, names, fingerprint }: Certificate) {
  return { subject, issuer, valid_from: new Date(validFromMs), valid_to: new Date(validToMs), names, fingerprint }
}

function toPingResponse({ sent, received, rttMinUs, rttAvgUs, rttMaxUs }: PingStats) {
  return {
    sent,
    received,
    loss_percent: sent === 0 ? 0 : Math.round((1 - received / sent) * 1_000) / 10,
    rtt_min_ms: rttMinUs / 1_000,
    rtt_avg_ms: rttAvgUs / 1_000,
    rtt_max_ms: rttMaxUs / 1_000,
  }
}

function toDnsResponse({ rcode, server, records }: DnsAnswer) {
  return {
    rcode,
    server,
    records: records.map(({ type, name, ttlS, value }) => ({ type, name, ttl_seconds: ttlS, value })),
  }
}
