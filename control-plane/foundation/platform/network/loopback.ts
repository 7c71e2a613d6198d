import ipaddr from 'ipaddr.js'
import { normalizeHost } from '../../../../shared/egress/guard/host.ts'

/** Whether a host is this machine alone: `localhost`, a name below it, or a loopback address, in any spelling. */
export function isLoopback(host: string): boolean {
  const name = normalizeHost(host) ?? ''
  if (ipaddr.isValid(name)) return ipaddr.process(name).range() === 'loopback'
  return name === 'localhost' || name.endsWith('.localhost')
}

/** The hosts in an address of NATS, which may name several servers: `nats://a:4222,tls://user:password@b`. */
export const parseNatsHosts = (url: string): string[] => url.split(',').map(parseServerHost)

/** The text itself when it is not an address; then it does not count as loopback. */
function parseServerHost(server: string): string {
  const text = server.trim()
  // URL knows a host only of protocols that it knows
  const asHttp = `http://${text.replace(/^[a-z]+:\/\//i, '')}`
  return URL.canParse(asHttp) ? new URL(asHttp).hostname : text
}
