import type { Egress } from '../../../../shared/egress/types.ts'
import { httpGet, sendTextQuery } from '../../../foundation/platform/network/http-client.ts'
import { buildRdapUrl, listRdapUrls, parseRdapExpiry, type RdapBootstrap } from './rdap.ts'
import { parseReferral, parseWhoisExpiry, type WhoisServer } from './whois.ts'

const MAX_ANSWER_BYTES = 256 * 1024
const MAX_RDAP_ADDRESSES = 2
const MAX_WHOIS_SERVERS = 3

export type Registries = {
  egress: Egress
  /** asked about every domain instead of what the bootstrap says (RDAP_BASE_URL) */
  rdapBaseUrl: string | null
  /** the fetched bootstrap; null: only what is shipped */
  bootstrap: RdapBootstrap | null
  /** asked first, others where it points to (WHOIS_SERVER) */
  whoisServer: WhoisServer
  /** of each question */
  timeoutMs: number
}

export type FoundRegistration = { expiresAt: Date; source: 'rdap' | 'whois' }
/** `isSilent`: everybody answered and nobody tells a date, as the registries of some countries do */
export type FailedLookup = { expiresAt: null; error: string; isSilent: boolean }

/** Asks the registry of a domain when its registration ends: RDAP, then WHOIS. Never rejects for what they answer. */
export async function lookUpDomain(domain: string, registries: Registries): Promise<FoundRegistration | FailedLookup> {
  const faults: string[] = []
  const rdap = await queryRdap(domain, registries, faults)
  if (rdap) return { expiresAt: rdap, source: 'rdap' }
  const whois = await queryWhois(domain, registries, faults)
  if (whois) return { expiresAt: whois, source: 'whois' }
  const isSilent = faults.length === 0
  const error = isSilent ? 'the registry does not tell when registrations end' : faults.join('; ')
  return { expiresAt: null, error: error.slice(0, 500), isSilent }
}

async function queryRdap(domain: string, registries: Registries, faults: string[]): Promise<Date | null> {
  const { rdapBaseUrl, bootstrap, egress, timeoutMs } = registries
  const limits = { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES }
  const urls = rdapBaseUrl === null ? listRdapUrls(domain, bootstrap) : [buildRdapUrl(rdapBaseUrl, domain)]
  for (const url of urls.slice(0, MAX_RDAP_ADDRESSES)) {
    const answer = await httpGet(url, { Accept: 'application/rdap+json, application/json' }, limits, egress)
    const date =
      answer.statusCode === 200 && !answer.truncated && answer.body ? parseRdapExpiry(String(answer.body)) : null
    if (date) return date
    const { host } = new URL(url)
    if (answer.error) faults.push(`RDAP at ${host}: ${answer.error.message}`)
    else if (answer.truncated) faults.push(`RDAP at ${host}: the answer is too long`)
    else if (answer.statusCode !== 200) faults.push(`RDAP at ${host}: status ${answer.statusCode}`)
  }
  return null
}

async function queryWhois(domain: string, registries: Registries, faults: string[]): Promise<Date | null> {
  const limits = { timeoutMs: registries.timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES }
  const asked = new Set<string>()
  let server: WhoisServer | null = registries.whoisServer
  while (server && asked.size < MAX_WHOIS_SERVERS) {
    const name = `${server.host}:${server.port}`
    if (asked.has(name)) return null
    asked.add(name)
    const { error, answer } = await sendTextQuery(server, `${domain}\r\n`, limits, registries.egress)
    const text = answer.toString('utf8')
    const date = parseWhoisExpiry(text)
    if (date) return date
    if (error) faults.push(`WHOIS at ${name}: ${error.message}`)
    server = parseReferral(text)
  }
  return null
}
