import { challengeNameOf } from './hostname.ts'
import { providerOf } from './providers.ts'
import type { Analysis, Connectable, DomainFacts, SeenCertificate, SslStatus, WantedRecord } from './types.ts'

export type Wanted = { domain: string; target: string; challenge: string }

/**
 * The records that a domain needs and those that it has. The text proves whose domain it is, so that nobody can take a
 * name that merely points here; at the top of a zone, where no CNAME may stand, the same addresses do.
 */
export function recordsOf({ domain, target, challenge }: Wanted, facts: DomainFacts): WantedRecord[] {
  const isApex = facts.zone?.name === domain
  const pointsHere = facts.cname === target || isSubset(facts.addresses, facts.targetAddresses)
  return [
    { type: isApex ? 'ALIAS' : 'CNAME', name: domain, value: target, ok: pointsHere },
    { type: 'TXT', name: challengeNameOf(domain), value: challenge, ok: facts.texts.includes(challenge) },
  ]
}

/** All that `analyze` answers (decisions 7.4). `template` is ours; null where Domain Connect is not set up. */
export function analysisOf(
  wanted: Wanted,
  facts: DomainFacts,
  seen: { connectable: Connectable | null; certificate: SeenCertificate; template: string | null },
): Analysis {
  const records = recordsOf(wanted, facts)
  const verified = records.every(({ ok }) => ok)
  const nameservers = facts.zone?.nameservers ?? []
  const { connectable, certificate } = seen
  const provider = providerOf(nameservers) ?? named(connectable)
  const isConnectable = seen.template !== null && connectable?.hasTemplate === true
  return {
    domain: wanted.domain,
    cname_target: wanted.target,
    verified,
    records,
    dns_provider: { id: provider?.id ?? null, name: provider?.name ?? null, nameservers },
    ssl: {
      status: sslStatus(records[0]!.ok, verified, certificate),
      issuer: records[0]!.ok ? (certificate?.issuer ?? null) : null,
      expires_at: records[0]!.ok ? (certificate?.expiresAt ?? null) : null,
    },
    domain_connect: {
      available: isConnectable,
      provider_id: connectable?.settings.providerId ?? null,
      template: isConnectable ? seen.template : null,
    },
    instructions: instructionsOf(records, facts, { provider: provider?.name ?? null, isConnectable, verified }),
  }
}

/** Before the domain points here, whatever certificate it shows is somebody else's. */
function sslStatus(pointsHere: boolean, verified: boolean, certificate: SeenCertificate): SslStatus {
  if (!pointsHere) return 'none'
  if (certificate !== null) return certificate.isTrusted ? 'active' : verified ? 'error' : 'none'
  return verified ? 'pending' : 'none'
}

function instructionsOf(
  records: WantedRecord[],
  { zone, faults }: DomainFacts,
  { provider, isConnectable, verified }: { provider: string | null; isConnectable: boolean; verified: boolean },
): string[] {
  if (verified) return ['Everything is in place. The certificate is fetched when the page is first opened.']
  const where = provider ?? (zone ? `the DNS provider of ${zone.name}` : 'your DNS provider')
  const missing = records.filter(({ ok }) => !ok)
  return [
    ...(isConnectable ? [`${where} can set the records for you: use Domain Connect.`] : []),
    ...missing.map(record => `At ${where}, ${sentenceOf(record)}`),
    'Then verify the domain. New records are usually seen within minutes, at the latest after the TTL of the old ones.',
    ...faults,
  ]
}

function sentenceOf({ type, name, value }: WantedRecord): string {
  if (type === 'TXT') return `add a TXT record ${name} with the value ${value}`
  if (type === 'CNAME')
    return `add a CNAME record ${name} that points to ${value}; remove A and AAAA records of that name`
  return `add an ALIAS, ANAME or flattened CNAME record at ${name} that points to ${value}: at the top of a zone no plain CNAME may stand`
}

const named = (connectable: Connectable | null) =>
  connectable && { id: connectable.settings.providerId, name: connectable.settings.providerName }

const isSubset = (some: readonly string[], all: readonly string[]) =>
  some.length > 0 && some.every(one => all.includes(one))
