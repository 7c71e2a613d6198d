import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { toResolverFailure } from '../failure.ts'

/** The addresses of a name, IPv4 first. Rejects with an EgressFailure of `toResolverFailure`. */
export type ResolveHost = (name: string) => Promise<string[]>

const QUERY_TIMEOUT_MS = 2000
const QUERY_TRIES = 3

type ResolverOptions = {
  /** DNS servers as `address:port`; default: the system's */
  servers?: string[]
  /** the text of a hosts file; default: /etc/hosts */
  hosts?: string
}

/**
 * Resolves names with /etc/hosts, then with the system's DNS servers, without using the thread pool. Only a name without a
 * dot, which may need a search domain, uses the system's resolver.
 */
export function createResolver(options: ResolverOptions = {}): ResolveHost {
  const hosts = parseHosts(options.hosts ?? readHostsFile())
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  if (options.servers) resolver.setServers(options.servers)
  return async name => {
    const known = hosts.get(name)
    if (known) return known
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    if (!name.includes('.')) return lookUp(name)
    return query(resolver, name)
  }
}

async function lookUp(name: string): Promise<string[]> {
  try {
    const found = await lookup(name, { all: true, verbatim: false })
    return found.map(({ address }) => address)
  } catch (error) {
    throw toResolverFailure(getErrorCode(error))
  }
}

async function query(resolver: Resolver, name: string): Promise<string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])]
  if (addresses.length > 0) return addresses
  const failures = [v4, v6].flatMap(({ status, ...rest }) =>
    status === 'rejected' ? [toResolverFailure(getErrorCode((rest as PromiseRejectedResult).reason))] : [],
  )
  // A failing resolver is not evidence about the name, even if the other query was answered.
  throw failures.find(failure => failure.code !== 'dns_not_found') ?? failures[0] ?? toResolverFailure('ENODATA')
}

const getErrorCode = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown'

function readHostsFile(): string {
  try {
    return readFileSync('/etc/hosts', 'utf8')
  } catch {
    return ''
  }
}

/** Parses a hosts file: name -> addresses, IPv4 first. */
export function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!isIP(address) || address.includes('%')) continue
    for (const name of names) {
      const addresses = [...(hosts.get(name.toLowerCase()) ?? []), address]
      hosts.set(
        name.toLowerCase(),
        addresses.sort((a, b) => isIP(a) - isIP(b)),
      )
    }
  }
  return hosts
}
