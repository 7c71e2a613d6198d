import type { X509Certificate } from 'node:crypto'
import type { Certificate } from './result.ts'

/** Limits for chains and names that a target may choose freely. */
const MAX_CHAIN_LENGTH = 10
const MAX_NAMES = 100
const MAX_NAME_LENGTH = 253
const MAX_TEXT_LENGTH = 500

/** Converts a certificate to the form that is sent and stored. */
export function toCertificate(x509: X509Certificate): Certificate {
  return {
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    validFromMs: Date.parse(x509.validFrom) || 0,
    validToMs: Date.parse(x509.validTo) || 0,
    names: parseNames(x509.subjectAltName ?? ''),
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}

/** The certificate chain of a target, leaf first. */
export function toCertificateChain(leaf: X509Certificate): Certificate[] {
  const chain: Certificate[] = []
  for (
    let next: X509Certificate | undefined = leaf;
    next && chain.length < MAX_CHAIN_LENGTH;
    next = next.issuerCertificate
  ) {
    chain.push(toCertificate(next))
  }
  return chain
}

// Node's types say string, but a certificate without a subject has undefined
const oneLine = (name: string | undefined) => (name ?? '').replaceAll('\n', ', ').slice(0, MAX_TEXT_LENGTH)

/** `DNS:a.example, IP Address:192.0.2.1, DNS:"odd, name"` as a list of names. */
function parseNames(text: string): string[] {
  const names = [...text.matchAll(/(?:^|, )(?:DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g)]
  return names.slice(0, MAX_NAMES).map(([, name = '']) => name.replace(/^"(.*)"$/, '$1').slice(0, MAX_NAME_LENGTH))
}
