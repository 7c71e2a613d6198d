import { endianness } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { IpFamily } from './packet.ts'

/** AF_INET and AF_INET6 of Linux. */
export const DOMAIN: Record<IpFamily, number> = { 4: 2, 6: 10 }

/** sockaddr_in and sockaddr_in6: their size, and the position of the address in them. */
const BYTES: Record<IpFamily, number> = { 4: 16, 6: 28 }
const FROM: Record<IpFamily, number> = { 4: 4, 6: 8 }
const UNTIL: Record<IpFamily, number> = { 4: 8, 6: 24 }

/** An IP address as a sockaddr. The port is 0, because ICMP has none. */
export function socketAddress(family: IpFamily, address: string): Buffer {
  const bytes = Buffer.alloc(BYTES[family])
  if (endianness() === 'LE') bytes.writeUInt16LE(DOMAIN[family])
  else bytes.writeUInt16BE(DOMAIN[family])
  bytes.set(family === 4 ? address.split('.').map(Number) : ipaddr.parse(address).toByteArray(), FROM[family])
  return bytes
}

/** A buffer for the address of a sender. */
export const emptyAddress = (family: IpFamily) => Buffer.alloc(BYTES[family])

/** Whether both have the same IP address; other fields are ignored. */
export function isSameHost(family: IpFamily, one: Buffer, other: Buffer): boolean {
  const [from, until] = [FROM[family], UNTIL[family]]
  return one.compare(other, from, until, from, until) === 0
}
