/** ICMP echoes as bytes (RFC 792, RFC 4443). The kernel fills in the identifier of the socket and the checksum. */

export type IpFamily = 4 | 6

const REQUEST_TYPE: Record<IpFamily, number> = { 4: 8, 6: 128 }
const REPLY_TYPE: Record<IpFamily, number> = { 4: 0, 6: 129 }

const SEQUENCE_AT = 6
const TOKEN_AT = 8
/** Bytes of the token by which a reply proves that its sender has seen our request. */
export const TOKEN_BYTES = 8
const SERIAL_AT = TOKEN_AT + TOKEN_BYTES
/** As large as what the system's ping sends. */
const PACKET_BYTES = 64

/** An echo request. `serial` (32 bits) says which one it is; its lower half is the sequence number. */
export function encodeEcho(family: IpFamily, token: Buffer, serial: number): Buffer {
  // Out of node's pool: a buffer of its own for each echo would cost more than all the rest.
  const packet = Buffer.allocUnsafe(PACKET_BYTES).fill(0)
  packet[0] = REQUEST_TYPE[family]
  packet.writeUInt16BE(serial & 0xffff, SEQUENCE_AT)
  token.copy(packet, TOKEN_AT)
  packet.writeUInt32BE(serial, SERIAL_AT)
  return packet
}

/** The serial of the request that this is the reply to; null when it is anything else. */
export function decodeReply(family: IpFamily, token: Buffer, packet: Buffer): number | null {
  if (packet.length !== PACKET_BYTES || packet[0] !== REPLY_TYPE[family] || packet[1] !== 0) return null
  if (token.compare(packet, TOKEN_AT, SERIAL_AT) !== 0) return null
  const serial = packet.readUInt32BE(SERIAL_AT)
  return (serial & 0xffff) === packet.readUInt16BE(SEQUENCE_AT) ? serial : null
}
