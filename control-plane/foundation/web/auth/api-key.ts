import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../../platform/ids.ts'

const SECRET_LENGTH = 30
const CHECKSUM_LENGTH = 6

/** A new key: `svc_`, 30 random base62 characters, and the CRC-32 of both as 6 base62 characters. */
export function generateApiKey(): string {
  const body = `svc_${randomBase62(SECRET_LENGTH)}`
  return body + toBase62(crc32(body), CHECKSUM_LENGTH)
}

/** False for a mistyped key, which is refused without a query. */
export function hasValidChecksum(key: string): boolean {
  if (!/^svc_[0-9A-Za-z]{36}$/.test(key)) return false
  const body = key.slice(0, -CHECKSUM_LENGTH)
  return key === body + toBase62(crc32(body), CHECKSUM_LENGTH)
}

/** The part of a key that lists show, enough to recognise it. */
export const formatKeyHint = (key: string) => `${key.slice(0, 8)}…${key.slice(-4)}`
