import type { Certificate, Evidence, Result } from '../../../../shared/checks/result.ts'

type Details = Pick<Result, 'ping' | 'dns'>

/** The evidence of a check as its column in ClickHouse: JSON, empty without evidence. Bytes are base64. */
export function serializeEvidence(evidence: Evidence | undefined): string {
  if (!evidence) return ''
  return JSON.stringify({ ...evidence, body: Buffer.from(evidence.body).toString('base64') })
}

export function parseEvidence(column: string): Evidence | undefined {
  if (column === '') return undefined
  const stored = JSON.parse(column) as Omit<Evidence, 'body'> & { body: string }
  return { ...stored, body: Buffer.from(stored.body, 'base64') }
}

export function serializeCertificate(certificate: Certificate | undefined): string {
  return certificate ? JSON.stringify(certificate) : ''
}

export function parseCertificate(column: string): Certificate | undefined {
  return column === '' ? undefined : JSON.parse(column)
}

export function serializeDetails({ ping, dns }: Details): string {
  return ping || dns ? JSON.stringify({ ping, dns }) : ''
}

export function parseDetails(column: string): Details {
  const { ping, dns } = (column === '' ? {} : JSON.parse(column)) as Partial<Details>
  return { ping, dns }
}
