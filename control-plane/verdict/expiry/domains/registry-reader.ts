import type { Egress } from '../../../../shared/egress/types.ts'
import { httpGet, sendTextQuery } from '../../../foundation/platform/network/http-client.ts'
import { buildRdapUrl, listRdapUrls, parseRdapExpiry, type RdapBootstrap } from './rdap.ts'
import { parseReferral, parseWhoisExpiry, type WhoisServer } from './whois.ts'

const MAX_ANSWER_BYTES = 256 * 1024
const MAX_RDAP_ADDRESSES = 2
const MAX_WHOIS_SERVERS = 3

export type Registries = {
  egress: Egress
  /** used for every domain instead of the bootstrap list (RDAP_BASE_URL) */
  rdapBaseUrl: string | null
  /** the fetched bootstrap list; null: only the extract in the program */
  bootstrap: RdapBootstrap | null
  /** queried first; other servers by its referrals (WHOIS_SERVER) */
  whoisServer: WhoisServer
  /** of each query */
  timeoutMs: number
}

type FoundRegistration = { expiresAt: Date; source: 'rdap' | 'whois' }
/** `isSilent`: all services answered without a date; the registries of some countries publish none */
type FailedLookup = { expiresAt: null; error: string; isSilent: boolean }

/** Looks up when the registration of a domain ends: RDAP, then WHOIS. Does not reject because of their answers. */
export async function lookUpDomain(domain: string, registries: Registries): Promise<FoundRegistration | FailedLookup> {
  const errors: string[] = []
  const rdap = await queryRdap(domain, registries, errors)
  if (rdap) return { expiresAt: rdap, source: 'rdap' }
  const whois = await queryWhois(domain, registries, errors)
  if (whois) return { expiresAt: whois, source: 'whois' }
  const isSilent = errors.length === 0
  const error = isSilent ? 'the registry does not publish when registrations end' : errors.join('; ')
  return { expiresAt: null, error: error.slice(0, 500), isSilent }
}

async function queryRdap(domain: string, registries: Registries, errors: string[]): Promise<Date | null> {
  const { rdapBaseUrl, bootstrap, egress, timeoutMs } = registries
  const limits = { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES }
  const urls = rdapBaseUrl === null ? listRdapUrls(domain, bootstrap) : [buildRdapUrl(rdapBaseUrl, domain)]
  for (const url of urls.slice(0, MAX_RDAP_ADDRESSES)) {
    const answer = await httpGet(url, { Accept: 'application/rdap+json, application/json' }, limits, egress)
    const date =
      answer.statusCode === 200 && !answer.truncated && answer.body ? parseRdapExpiry(String(answer.body)) : null
    if (date) return date
    const { host } = new URL(url)
    if (answer.error) errors.push(`RDAP at ${host}: ${answer.error.message}`)
    else if (answer.truncated) errors.push(`RDAP at ${host}: the answer is too long`)
    else if (answer.statusCode !== 200) errors.push(`RDAP at ${host}: status ${answer.statusCode}`)
  }
  return null
}

async function queryWhois(domain: string, registries: Registries, errors: string[]): Promise<Date | null> {
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
    if (error) errors.push(`WHOIS at ${name}: ${error.message}`)
    server = parseReferral(text)
  }
  return null
}
