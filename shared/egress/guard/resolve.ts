import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { FailureSource } from '../../checks/result.ts'
import { startTimeLimit } from '../deadline.ts'
import { toResolverFailure } from '../failure.ts'
import { watchFiles } from './file-watch.ts'

/** The addresses of a name, IPv4 first. Rejects with an EgressFailure of `toResolverFailure`. */
export type ResolveHost = (name: string) => Promise<string[]>

const QUERY_TIMEOUT_MS = 2000
const QUERY_TRIES = 3
/**
 * How long to wait for the other family when one has addresses. IPv6 is not needed then. IPv4 may be the only family that the
 * probe can reach: a lost datagram is sent again after `QUERY_TIMEOUT_MS`.
 */
const WAIT_FOR_OTHER_MS = { v4: QUERY_TIMEOUT_MS + 500, v6: 500 }
/** Resolvers that are kept for the next names. */
const MAX_IDLE = 100
/** Answers of a server that cannot resolve the name, or does not do it for this client. Another server may be able to. */
const SERVER_ERRORS = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP'])

/** Where the system has its hosts and its DNS servers. */
const SYSTEM_FILES = { hosts: '/etc/hosts', servers: '/etc/resolv.conf' }

type ResolverOptions = {
  /** DNS servers as `address:port`; default: the system's */
  servers?: string[]
  /** the paths of both files; default: those of the system. The servers are read by Node from its own path */
  files?: typeof SYSTEM_FILES
  /** how often the files are looked at for changes */
  lookIntervalMs?: number
}

/**
 * Resolves names with /etc/hosts, then with the system's DNS servers, without using the thread pool. Only a name without a
 * dot, which may need a search domain, uses the system's resolver. Changes of both files apply after seconds: a network that
 * changes replaces the DNS servers while a process runs.
 */
export function createResolver({ servers, files = SYSTEM_FILES, lookIntervalMs }: ResolverOptions = {}): ResolveHost {
  const countChanges = watchFiles(Object.values(files), lookIntervalMs)
  let hosts = readHosts(files.hosts)
  // Each serves one name at a time, because the queries of a resolver can only be cancelled together. Opening one is slow.
  let idle: Resolver[] = []
  let changes = countChanges()
  const follow = () => {
    if (changes === countChanges()) return
    changes = countChanges()
    hosts = readHosts(files.hosts)
    // a resolver keeps the servers that it was opened with
    idle = []
  }
  return async name => {
    follow()
    const known = hosts.get(name)
    if (known) return known
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    if (!name.includes('.')) return lookUp(name)
    const current = idle
    const resolver = current.pop() ?? openResolver(QUERY_TRIES, servers)
    try {
      return await query(resolver, name)
    } finally {
      if (current.length < MAX_IDLE) current.push(resolver)
    }
  }
}

function openResolver(tries: number, servers?: string[]): Resolver {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries })
  if (servers) resolver.setServers(servers)
  return resolver
}

async function lookUp(name: string): Promise<string[]> {
  try {
    const found = await lookup(name, { all: true, verbatim: false })
    return found.map(({ address }) => address)
  } catch (error) {
    throw toResolverFailure(getErrorCode(error))
  }
}

/** The addresses of a name, or the code of c-ares for the reason why there are none. */
type Answer = { addresses: string[]; code: string | null }

async function query(resolver: Resolver, name: string): Promise<string[]> {
  let answer = await ask(resolver, name)
  const servers = resolver.getServers()
  if (answer.code !== null && SERVER_ERRORS.has(answer.code) && servers.length > 1) {
    // c-ares returns the first error of a server, and not which server sent it.
    answer = (await askEach([...servers.slice(1), servers[0]!], name)) ?? answer
  }
  if (answer.code !== null) throw toResolverFailure(answer.code)
  return answer.addresses
}

/** Asks for both families. When it resolves, no query and no timer is left. */
async function ask(resolver: Resolver, name: string): Promise<Answer> {
  let stopWaiting = null as (() => void) | null
  const waitForOther = (delayMs: number) => (found: string[]) => {
    stopWaiting ??= startTimeLimit(delayMs, () => resolver.cancel())
    return found
  }
  const [v4, v6] = await Promise.allSettled([
    resolver.resolve4(name).then(waitForOther(WAIT_FOR_OTHER_MS.v6)),
    resolver.resolve6(name).then(waitForOther(WAIT_FOR_OTHER_MS.v4)),
  ])
  stopWaiting?.()
  const addresses = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])]
  if (addresses.length > 0) return { addresses, code: null }
  const codes = [v4, v6].flatMap(result => (result.status === 'rejected' ? [getErrorCode(result.reason)] : []))
  // A failing resolver is not evidence about the name, even if the other query was answered.
  return { addresses, code: codes.find(code => !isAboutName(code)) ?? codes[0] ?? 'ENODATA' }
}

/** Asks all servers at the same time, each once. The first in the list that has addresses, or none for the name, is used. */
async function askEach(servers: string[], name: string): Promise<Answer | null> {
  const resolvers = servers.map(server => openResolver(1, [server]))
  try {
    for (const answer of resolvers.map(resolver => ask(resolver, name))) {
      const { addresses, code } = await answer
      if (code === null || isAboutName(code)) return { addresses, code }
    }
    return null
  } finally {
    for (const resolver of resolvers) resolver.cancel()
  }
}

const isAboutName = (code: string) => toResolverFailure(code).source === FailureSource.TARGET

const getErrorCode = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown'

/** Without a file, no name has addresses. */
function readHosts(path: string): Map<string, string[]> {
  try {
    return parseHosts(readFileSync(path, 'utf8'))
  } catch {
    return new Map()
  }
}

/** Returns a function with the system's DNS servers as `address:port`. It follows changes of /etc/resolv.conf after seconds. */
export function createSystemServers(): () => string[] {
  const countChanges = watchFiles([SYSTEM_FILES.servers])
  let changes = -1
  let servers: string[] = []
  return () => {
    if (changes !== countChanges()) servers = new Resolver().getServers()
    changes = countChanges()
    return servers
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
