/** A record that the customer's zone needs, and whether it exists. */
export type RequiredRecord = { type: 'CNAME' | 'ALIAS' | 'TXT'; name: string; value: string; ok: boolean }

/** The current DNS records of a domain. */
export type DnsFacts = {
  /** the zone that contains the domain; null when none was found */
  zone: { name: string; nameservers: string[] } | null
  /** the CNAME of the domain */
  cname: string | null
  addresses: string[]
  /** addresses of the host that serves pages */
  targetAddresses: string[]
  /** TXT records at the challenge's name */
  texts: string[]
  /** servers that did not answer, as sentences; their records are unknown */
  faults: string[]
}

/** The settings of a DNS provider that supports Domain Connect (Domain Connect, DNS Provider Discovery). */
export type ConnectSettings = {
  providerId: string
  providerName: string
  urlSyncUx: string | null
  urlApi: string
}

/** `hasTemplate`: whether the provider has the template of Picket. */
export type ConnectProvider = { settings: ConnectSettings; hasTemplate: boolean }

/** The certificate that visitors of the domain get. */
export type DomainCertificate = { isTrusted: boolean; issuer: string | null; expiresAt: Date } | null

export type SslStatus = 'none' | 'pending' | 'active' | 'error'

/** The response of `analyze` (docs/design/subscribers.md#operations). */
export type DomainAnalysis = {
  domain: string
  cname_target: string
  verified: boolean
  records: RequiredRecord[]
  dns_provider: { id: string | null; name: string | null; nameservers: string[] }
  ssl: { status: SslStatus; issuer: string | null; expires_at: Date | null }
  domain_connect: { available: boolean; provider_id: string | null; template: string | null }
  instructions: string[]
}
