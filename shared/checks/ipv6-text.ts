import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An IPv6 address in the form of RFC 5952, the same for every notation of it. Another text is returned unchanged. */
export const formatIpv6 = (text: string): string => (isIPv6(text) ? ipaddr.IPv6.parse(text).toRFC5952String() : text)
