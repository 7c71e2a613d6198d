/** A record that has to stand in the customer's zone, and whether it does. */
export type RequiredRecord = { type: 'CNAME' | 'ALIAS' | 'TXT'; name: string; value: string; ok: boolean }

/** What the world's DNS says of a domain now. */
export type DnsFacts = {
  /** the zone that holds the domain; null when none was found */
  zone: { name: string; nameservers: string[] } | null
  /** where the domain is an alias to */
  cname: string | null
  addresses: string[]
  /** of the host that pages are served at */
  targetAddresses: string[]
  /** texts at the challenge's name */
  texts: string[]
  /** who did not answer, as sentences; what they would have said is unknown */
  faults: string[]
}

/** What a DNS provider that speaks Domain Connect says of itself (Domain Connect, DNS Provider Discovery). */
export type ConnectSettings = {
  providerId: string
  providerName: string
  urlSyncUx: string | null
  urlApi: string
}

/** `template`: whether it knows ours. */
export type ConnectProvider = { settings: ConnectSettings; hasTemplate: boolean }

/** The certificate that visitors of the domain are shown. */
export type DomainCertificate = { isTrusted: boolean; issuer: string | null; expiresAt: Date } | null

export type SslStatus = 'none' | 'pending' | 'active' | 'error'

/** Answer of `analyze` (decisions 7.4), but for its names. */
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
