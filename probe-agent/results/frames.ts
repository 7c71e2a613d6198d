import { crc32 } from 'node:zlib'

/** The spool's framing: length, CRC-32 of the payload (both 32 bits, big-endian), payload. */

const HEAD_BYTES = 8
/** A result has some hundred bytes; a larger length is damage. */
const MAX_PAYLOAD_BYTES = 1024 * 1024

export function encodeFrame(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length)
  frame.writeUInt32BE(payload.length, 0)
  frame.writeUInt32BE(crc32(payload), 4)
  frame.set(payload, HEAD_BYTES)
  return frame
}

/**
 * The payloads up to the first truncated or damaged frame. A process that was killed can leave one at the end; nothing
 * after it can be decoded. `tornBytes`: the number of bytes that were not decoded.
 */
export function decodeFrames(bytes: Buffer): { payloads: Buffer[]; tornBytes: number } {
  const payloads: Buffer[] = []
  let at = 0
  while (at + HEAD_BYTES <= bytes.length) {
    const length = bytes.readUInt32BE(at)
    const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    if (length > MAX_PAYLOAD_BYTES || payload.length < length || crc32(payload) !== bytes.readUInt32BE(at + 4)) break
    payloads.push(payload)
    at += HEAD_BYTES + length
  }
  return { payloads, tornBytes: bytes.length - at }
}

/** A spooled result: its partition, the id of the probe, and its encoded entry (batch.ts). */
export type SpoolRecord = { partition: number; probeId: string; piece: Uint8Array }

export function encodeRecord({ partition, probeId, piece }: SpoolRecord): Buffer {
  const id = Buffer.from(probeId)
  return Buffer.concat([Buffer.of(partition, id.length), id, piece])
}

export function decodeRecord(payload: Buffer): SpoolRecord {
  const pieceAt = 2 + payload[1]!
  return { partition: payload[0]!, probeId: payload.toString('utf8', 2, pieceAt), piece: payload.subarray(pieceAt) }
}
