import { findProvider } from './dns-providers.ts'
import { buildChallengeName } from './hostname.ts'
import type {
  ConnectProvider,
  DnsFacts,
  DomainAnalysis,
  DomainCertificate,
  RequiredRecord,
  SslStatus,
} from './types.ts'

export type DomainRequirements = { domain: string; target: string; challenge: string }

/**
 * The records that a domain needs and those that it has. The text proves whose domain it is, so that nobody can take a
 * name that merely points here; at the top of a zone, where no CNAME may stand, the same addresses do.
 */
export function buildRequiredRecords(
  { domain, target, challenge }: DomainRequirements,
  facts: DnsFacts,
): RequiredRecord[] {
  const isApex = facts.zone?.name === domain
  const pointsHere = facts.cname === target || isSubset(facts.addresses, facts.targetAddresses)
  return [
    { type: isApex ? 'ALIAS' : 'CNAME', name: domain, value: target, ok: pointsHere },
    { type: 'TXT', name: buildChallengeName(domain), value: challenge, ok: facts.texts.includes(challenge) },
  ]
}

/** All that `analyze` answers (decisions 7.4). `template` is ours; null where Domain Connect is not set up. */
export function buildAnalysis(
  wanted: DomainRequirements,
  facts: DnsFacts,
  seen: { connectable: ConnectProvider | null; certificate: DomainCertificate; template: string | null },
): DomainAnalysis {
  const records = buildRequiredRecords(wanted, facts)
  const verified = records.every(({ ok }) => ok)
  const nameservers = facts.zone?.nameservers ?? []
  const { connectable, certificate } = seen
  const provider = findProvider(nameservers) ?? toProvider(connectable)
  const isConnectable = seen.template !== null && connectable?.hasTemplate === true
  return {
    domain: wanted.domain,
    cname_target: wanted.target,
    verified,
    records,
    dns_provider: { id: provider?.id ?? null, name: provider?.name ?? null, nameservers },
    ssl: {
      status: getSslStatus(records[0]!.ok, verified, certificate),
      issuer: records[0]!.ok ? (certificate?.issuer ?? null) : null,
      expires_at: records[0]!.ok ? (certificate?.expiresAt ?? null) : null,
    },
    domain_connect: {
      available: isConnectable,
      provider_id: connectable?.settings.providerId ?? null,
      template: isConnectable ? seen.template : null,
    },
    instructions: buildInstructions(records, facts, { provider: provider?.name ?? null, isConnectable, verified }),
  }
}

/** Before the domain points here, whatever certificate it shows is somebody else's. */
function getSslStatus(pointsHere: boolean, verified: boolean, certificate: DomainCertificate): SslStatus {
  if (!pointsHere) return 'none'
  if (certificate !== null) return certificate.isTrusted ? 'active' : verified ? 'error' : 'none'
  return verified ? 'pending' : 'none'
}

function buildInstructions(
  records: RequiredRecord[],
  { zone, faults }: DnsFacts,
  { provider, isConnectable, verified }: { provider: string | null; isConnectable: boolean; verified: boolean },
): string[] {
  if (verified) return ['Everything is in place. The certificate is fetched when the page is first opened.']
  const where = provider ?? (zone ? `the DNS provider of ${zone.name}` : 'your DNS provider')
  const missing = records.filter(({ ok }) => !ok)
  return [
    ...(isConnectable ? [`${where} can set the records for you: use Domain Connect.`] : []),
    ...missing.map(record => `At ${where}, ${formatInstruction(record)}`),
    'Then verify the domain. New records are usually seen within minutes, at the latest after the TTL of the old ones.',
    ...faults,
  ]
}

function formatInstruction({ type, name, value }: RequiredRecord): string {
  if (type === 'TXT') return `add a TXT record ${name} with the value ${value}`
  if (type === 'CNAME')
    return `add a CNAME record ${name} that points to ${value}; remove A and AAAA records of that name`
  return `add an ALIAS, ANAME or flattened CNAME record at ${name} that points to ${value}: at the top of a zone no plain CNAME may stand`
}

const toProvider = (connectable: ConnectProvider | null) =>
  connectable && { id: connectable.settings.providerId, name: connectable.settings.providerName }

const isSubset = (some: readonly string[], all: readonly string[]) =>
  some.length > 0 && some.every(one => all.includes(one))
