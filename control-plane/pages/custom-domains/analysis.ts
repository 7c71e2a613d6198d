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

type DomainRequirements = { domain: string; target: string; challenge: string }

/**
 * The records that a domain needs, and whether they exist (docs/design/subscribers.md#records). The TXT record proves
 * ownership: a name that merely points here belongs to no page. A zone apex cannot have a CNAME, so equal addresses
 * count there.
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

/**
 * The response of `analyze`. `template`: the name of the template of Picket; null when Domain Connect is not
 * configured. It does not apply to the top of a zone, which cannot have its CNAME.
 */
export function buildAnalysis(
  requirements: DomainRequirements,
  facts: DnsFacts,
  found: { connectable: ConnectProvider | null; certificate: DomainCertificate; template: string | null },
): DomainAnalysis {
  const records = buildRequiredRecords(requirements, facts)
  const verified = records.every(({ ok }) => ok)
  const nameservers = facts.zone?.nameservers ?? []
  const { connectable, certificate } = found
  const provider = findProvider(nameservers) ?? toProvider(connectable)
  const ssl = getSslStatus(records[0]!.ok, verified, certificate)
  const isConnectable =
    found.template !== null && connectable?.hasTemplate === true && facts.zone?.name !== requirements.domain
  return {
    domain: requirements.domain,
    cname_target: requirements.target,
    verified,
    records,
    dns_provider: { id: provider?.id ?? null, name: provider?.name ?? null, nameservers },
    ssl: {
      status: ssl,
      issuer: records[0]!.ok ? (certificate?.issuer ?? null) : null,
      expires_at: records[0]!.ok ? (certificate?.expiresAt ?? null) : null,
    },
    domain_connect: {
      available: isConnectable,
      provider_id: connectable?.settings.providerId ?? null,
      template: isConnectable ? found.template : null,
    },
    instructions: buildInstructions(records, facts, { provider: provider?.name ?? null, isConnectable, ssl, verified }),
  }
}

/** While the domain does not point here, its certificate belongs to another server. */
function getSslStatus(pointsHere: boolean, verified: boolean, certificate: DomainCertificate): SslStatus {
  if (!pointsHere) return 'none'
  if (certificate !== null) return certificate.isTrusted ? 'active' : verified ? 'error' : 'none'
  return verified ? 'pending' : 'none'
}

type InstructionFacts = { provider: string | null; isConnectable: boolean; ssl: SslStatus; verified: boolean }

const PENDING =
  'All records are in place. The certificate is issued when the published page is opened for the first time.'

const VERIFIED_INSTRUCTIONS: Record<SslStatus, string> = {
  none: PENDING,
  pending: PENDING,
  active: 'All records are in place, and the certificate is valid.',
  error: 'All records are in place, but the certificate that visitors get is not trusted.',
}

function buildInstructions(
  records: RequiredRecord[],
  { zone, faults }: DnsFacts,
  { provider, isConnectable, ssl, verified }: InstructionFacts,
): string[] {
  if (verified) return [VERIFIED_INSTRUCTIONS[ssl]]
  const where = provider ?? (zone ? `the DNS provider of ${zone.name}` : 'your DNS provider')
  const missing = records.filter(({ ok }) => !ok)
  return [
    ...faults,
    ...(isConnectable ? [`${where} can set the records for you with Domain Connect.`] : []),
    ...missing.map(record => `At ${where}, ${formatInstruction(record)}`),
    'Then verify the domain. New records are usually visible within minutes, at the latest after the TTL of the old ones.',
  ]
}

function formatInstruction({ type, name, value }: RequiredRecord): string {
  if (type === 'TXT') return `add a TXT record ${name} with the value ${value}`
  if (type === 'CNAME')
    return `add a CNAME record ${name} that points to ${value}; remove A and AAAA records of that name`
  return `add an ALIAS, ANAME or flattened CNAME record at ${name} that points to ${value}: a plain CNAME is not allowed at the top of a zone`
}

const toProvider = (connectable: ConnectProvider | null) =>
  connectable && { id: connectable.settings.providerId, name: connectable.settings.providerName }

const isSubset = (some: readonly string[], all: readonly string[]) =>
  some.length > 0 && some.every(one => all.includes(one))
