/** Encodes and decodes ICMP echoes (RFC 792, RFC 4443). The kernel sets the identifier and the checksum. */

export type IpFamily = 4 | 6

const REQUEST_TYPE: Record<IpFamily, number> = { 4: 8, 6: 128 }
const REPLY_TYPE: Record<IpFamily, number> = { 4: 0, 6: 129 }

const SEQUENCE_AT = 6
const TOKEN_AT = 8
/** Size of the random token that proves that the sender of a reply has received the request. */
export const TOKEN_BYTES = 8
const SERIAL_AT = TOKEN_AT + TOKEN_BYTES
/** The size that the system's ping sends. */
export const PACKET_BYTES = 64

/** An echo request without a serial number. */
export function encodeEcho(family: IpFamily, token: Buffer): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES)
  packet[0] = REQUEST_TYPE[family]
  token.copy(packet, TOKEN_AT)
  return packet
}

/** Sets the serial number (32 bits); its lower half is the sequence number. */
export function setEchoSerial(packet: Buffer, serial: number): void {
  packet.writeUInt16BE(serial & 0xffff, SEQUENCE_AT)
  packet.writeUInt32BE(serial, SERIAL_AT)
}

/** The serial number of the request that these `length` bytes reply to; null when they are not a valid reply. */
export function decodeEchoReply(
  family: IpFamily,
  token: Buffer,
  packet: Buffer,
  length = packet.length,
): number | null {
  if (length !== PACKET_BYTES || packet[0] !== REPLY_TYPE[family] || packet[1] !== 0) return null
  if (token.compare(packet, TOKEN_AT, SERIAL_AT) !== 0) return null
  const serial = packet.readUInt32BE(SERIAL_AT)
  return (serial & 0xffff) === packet.readUInt16BE(SEQUENCE_AT) ? serial : null
}
