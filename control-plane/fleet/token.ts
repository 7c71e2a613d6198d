import { crc32 } from '../platform/crc32.ts'
import { toBase62 } from '../platform/ids.ts'

const PREFIX = 'prb_'
export const TOKEN_RANDOM_LENGTH = 30
const FORM = /^prb_[0-9A-Za-z]{36}$/

/** An enrolment token of 30 random base62 characters and a checksum, as API keys have it (decisions 2.1, 11.1). */
export const probeTokenOf = (random: string): string => `${PREFIX}${random}${checksumOf(`${PREFIX}${random}`)}`

/** False for what was mistyped or cut off, without a look-up. */
export function isProbeToken(text: string): boolean {
  return FORM.test(text) && checksumOf(text.slice(0, -6)) === text.slice(-6)
}

/** The token of the metadata `authorization: Bearer prb_…`; null when there is none of that form. */
export function bearerToken(authorization: string | undefined): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return token !== undefined && isProbeToken(token) ? token : null
}

const checksumOf = (text: string) => toBase62(crc32(text), 6)
