import type { Egress } from '../../../shared/egress/types.ts'
import { resolveRecords } from '../../foundation/platform/network/dns-records.ts'
import { httpGet } from '../../foundation/platform/network/http-client.ts'
import { buildSettingsUrl, buildSupportUrl, type ConnectTemplate, parseConnectSettings } from './domain-connect.ts'
import { buildChallengeName, listZoneCandidates } from './hostname.ts'
import type { ConnectProvider, DnsFacts, DomainCertificate } from './types.ts'

const TIMEOUT_MS = 4_000
const MAX_ANSWER_BYTES = 64 * 1024
/** Deeper names have no zone of their own in practice, and each costs a query. */
const MAX_ZONE_CANDIDATES = 5

export type DomainLookUpContext = { egress: Egress; httpsPort: number }

/**
 * Reads the DNS records of a domain and of the host that serves pages. Never rejects: a server without an answer is a
 * fault.
 */
export async function lookUpDnsFacts(
  domain: string,
  target: string,
  { egress }: DomainLookUpContext,
): Promise<DnsFacts> {
  const faults = new Set<string>()
  const ask = async (name: string, type: 'A' | 'AAAA' | 'CNAME' | 'NS' | 'TXT') => {
    const { values, fault } = await resolveRecords(name, type, TIMEOUT_MS, egress)
    if (fault !== null) faults.add(`DNS: ${fault}.`)
    return values
  }
  const readAddresses = async (name: string) => (await Promise.all([ask(name, 'A'), ask(name, 'AAAA')])).flat()
  const [cnames, addresses, targetAddresses, texts, zone] = await Promise.all([
    ask(domain, 'CNAME'),
    readAddresses(domain),
    readAddresses(target),
    ask(buildChallengeName(domain), 'TXT'),
    findZone(domain, name => ask(name, 'NS')),
  ])
  return { zone, cname: cnames[0] ?? null, addresses, targetAddresses, texts, faults: [...faults] }
}

async function findZone(domain: string, readServers: (name: string) => Promise<string[]>): Promise<DnsFacts['zone']> {
  for (const name of listZoneCandidates(domain).slice(-MAX_ZONE_CANDIDATES)) {
    const nameservers = await readServers(name)
    if (nameservers.length > 0) return { name, nameservers: nameservers.toSorted() }
  }
  return null
}

/** Asks the zone's provider whether it supports Domain Connect and has the template of Picket. Null without support. */
export async function findConnectProvider(
  zone: string,
  template: ConnectTemplate,
  { egress }: DomainLookUpContext,
): Promise<ConnectProvider | null> {
  const [text] = (await resolveRecords(`_domainconnect.${zone}`, 'TXT', TIMEOUT_MS, egress)).values
  const url = text === undefined ? null : buildSettingsUrl(text, zone)
  const settings = url === null ? null : parseConnectSettings(await getJson(url, egress))
  if (settings === null) return null
  if (settings.urlSyncUx === null) return { settings, hasTemplate: false }
  const { statusCode } = await fetchUrl(buildSupportUrl(settings, template), egress)
  return { settings, hasTemplate: statusCode !== null && statusCode >= 200 && statusCode < 300 }
}

/** The certificate that a domain presents; null when there is none. */
export async function fetchCertificate(
  domain: string,
  { egress, httpsPort }: DomainLookUpContext,
): Promise<DomainCertificate> {
  const { certificate, error } = await fetchUrl(`https://${domain}:${httpsPort}/healthz`, egress)
  if (certificate === null) return null
  const issuer = /^(?:O|CN)=(.+)$/m.exec(certificate.issuer)?.[1] ?? null
  const isTrusted = error === null || !error.code.startsWith('tls_')
  return { isTrusted, issuer, expiresAt: new Date(certificate.validTo) }
}

async function getJson(url: string, egress: Egress): Promise<unknown> {
  const { statusCode, body, truncated } = await fetchUrl(url, egress)
  if (statusCode !== 200 || truncated || body === null) return null
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}

const fetchUrl = (url: string, egress: Egress) =>
  httpGet(url, { accept: 'application/json' }, { timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES }, egress)
