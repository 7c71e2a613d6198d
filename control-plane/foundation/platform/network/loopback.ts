import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../../shared/egress/guard/host.ts'

/** True for `localhost`, names below it, and loopback addresses in any spelling. */
export function isLoopback(host: string): boolean {
  const name = normalizeHost(host) ?? ''
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'loopback'
  return name === 'localhost' || name.endsWith('.localhost')
}

/** The hosts in a NATS address, which may name several servers: `nats://a:4222,tls://user:password@b`. */
export const parseNatsHosts = (url: string): string[] => url.split(',').map(parseServerHost)

/** The text itself when it is not an address; it does not count as loopback then. */
function parseServerHost(server: string): string {
  const text = server.trim()
  // URL parses hosts only for known protocols
  const asHttp = `http://${text.replace(/^[a-z]+:\/\//i, '')}`
  return URL.canParse(asHttp) ? new URL(asHttp).hostname : text
}
