import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../../shared/egress/guard/host.ts'
import { parseNatsServers } from '../../../../shared/nats/servers.ts'

/** True for `localhost`, names below it, and loopback addresses in any spelling. */
export function isLoopback(host: string): boolean {
  const name = normalizeHost(host) ?? ''
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'loopback'
  return name === 'localhost' || name.endsWith('.localhost')
}

/** The hosts in a NATS address, which may name several servers: `nats://user:password@a:4222,nats://b`. */
export const parseNatsHosts = (url: string): string[] => parseNatsServers(url).servers.map(parseServerHost)

/** URL parses hosts only for known protocols. */
const parseServerHost = (server: string) => new URL(`http://${server.replace(/^[a-z]+:\/\//i, '')}`).hostname
