import ipaddr from 'ipaddr.js'

/**
 * The address in what is said of a client, as PostgreSQL takes it for `inet`: without the port that some proxies write
 * behind it, and without the zone of a link. Null when it is none, for in `X-Forwarded-For` may stand anything.
 */
export function parseClientAddress(text: string): string | null {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  const [, beforePort] = /^([\d.]+):\d+$/.exec(text) ?? []
  const address = (bracketed ?? beforePort ?? text).replace(/%.*$/, '')
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return isAddress ? ipaddr.process(address).toString() : null
}
