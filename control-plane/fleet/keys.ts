import { crc32 } from '../platform/crc32.ts'
import { toBase62 } from '../platform/ids.ts'

/** What a probe shows at the door: a secret of its own, an enrolment token for a secret that is not known yet, or both. */
export type ProbeKeys = { secret: string | null; token: string | null }

/**
 * The metadata of a probe's stream, `authorization` and `enrolment-token`. What was mistyped or cut off is refused
 * without a look-up, a token by its checksum. Probes of before secrets send their token as `authorization`.
 */
export function keysOf(authorization = '', enrolmentToken = ''): ProbeKeys | { refusal: string } {
  const [, secret = null] = /^Bearer +(prs_[\w-]{43})$/i.exec(authorization) ?? []
  const [, bearer = ''] = /^Bearer +(prb_\S+)$/i.exec(authorization) ?? []
  const token = bearer || enrolmentToken
  if (secret === null && bearer === '') {
    return { refusal: 'send the probe’s secret or an enrolment token as "authorization: Bearer …"' }
  }
  if (token !== '' && !isToken(token)) return { refusal: 'the enrolment token is mistyped' }
  return { secret, token: token || null }
}

/** `body` begins with `prb_`. */
export const withChecksum = (body: string): string => `${body}${toBase62(crc32(body), 6)}`

const isToken = (token: string) => /^prb_[0-9A-Za-z]{36}$/.test(token) && withChecksum(token.slice(0, -6)) === token
