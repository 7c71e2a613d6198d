import ipaddr from 'ipaddr.js'

/**
 * The address in a text about a client, in a form that PostgreSQL accepts as `inet`: without the port that some proxies
 * append, and without a zone. Null when it is not an address, because `X-Forwarded-For` may contain anything.
 */
export function parseClientAddress(text: string): string | null {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  const [, beforePort] = /^([\d.]+):\d+$/.exec(text) ?? []
  const address = (bracketed ?? beforePort ?? text).replace(/%.*$/, '')
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  return isAddress ? ipaddr.process(address).toString() : null
}
