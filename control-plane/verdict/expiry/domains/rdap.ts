import { parseRegistryDate } from './dates.ts'
import shipped from './rdap-bootstrap.json' with { type: 'json' }

/** Base URLs of RDAP services by top-level domain, each with a trailing slash. */
export type RdapBootstrap = ReadonlyMap<string, string[]>

const filterTexts = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : []
const isWeb = (url: string) => URL.canParse(url) && /^https?:\/\//i.test(url)
const secureFirst = (a: string, b: string) => Number(b.startsWith('https:')) - Number(a.startsWith('https:'))
const withSlash = (url: string) => (url.endsWith('/') ? url : `${url}/`)

/** Parses a document in the format of IANA's dns.json (RFC 9224). Null if it is invalid or has no usable entry. */
export function parseBootstrap(document: unknown): RdapBootstrap | null {
  const services = (document as { services?: unknown } | null)?.services
  if (!Array.isArray(services)) return null
  const bootstrap = new Map<string, string[]>()
  for (const service of services) {
    const [names, urls] = Array.isArray(service) ? service : []
    const bases = filterTexts(urls).filter(isWeb).sort(secureFirst).map(withSlash)
    if (bases.length === 0) continue
    for (const name of filterTexts(names)) bootstrap.set(name.toLowerCase(), bases)
  }
  return bootstrap.size === 0 ? null : bootstrap
}

/** The extract in the program: common top-level domains only. */
export const SHIPPED_BOOTSTRAP: RdapBootstrap = parseBootstrap(shipped)!

/** The last label of a domain. A registry may have several. */
export const getTopLevelDomain = (domain: string): string => domain.slice(domain.lastIndexOf('.') + 1)

/** The RDAP URLs for a domain, from the fetched list or else the extract. Empty if its registry has no RDAP service. */
export function listRdapUrls(domain: string, fetched: RdapBootstrap | null): string[] {
  const tld = getTopLevelDomain(domain)
  return (fetched?.get(tld) ?? SHIPPED_BOOTSTRAP.get(tld) ?? []).map(base => buildRdapUrl(base, domain))
}

export const buildRdapUrl = (base: string, domain: string): string =>
  `${withSlash(base)}domain/${encodeURIComponent(domain)}`

/** The end of the registration in an RDAP response (RFC 9083, event `expiration`). Null if it has none. */
export function parseRdapExpiry(text: string): Date | null {
  const { objectClassName, events } = parseObject(text)
  if (objectClassName !== 'domain' || !Array.isArray(events)) return null
  for (const event of events) {
    const { eventAction, eventDate } = (event ?? {}) as { eventAction?: unknown; eventDate?: unknown }
    if (eventAction === 'expiration' && typeof eventDate === 'string') return parseRegistryDate(eventDate)
  }
  return null
}

function parseObject(text: string): { objectClassName?: unknown; events?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
