import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Encoding = 'identity' | 'gzip' | 'br'

const BROTLI_QUALITY = 5

const COMPRESS = {
  gzip: promisify(gzip),
  br: (body: Buffer) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
}

/** The bytes in an encoding. Compresses in a thread of the runtime. */
export const encodeContent = async (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'identity' ? body : COMPRESS[encoding](body)

/** The encoding for an `Accept-Encoding` header; the smallest one is preferred. */
export function pickEncoding(header = ''): Encoding {
  if (ACCEPTS_BROTLI.test(header)) return 'br'
  return ACCEPTS_GZIP.test(header) ? 'gzip' : 'identity'
}

/** `br;q=0` means that br is not accepted. */
const buildAcceptsPattern = (name: string) =>
  new RegExp(`(?:^|,)\\s*${name}\\s*(?:,|$|;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$)))`, 'i')
const ACCEPTS_BROTLI = buildAcceptsPattern('br')
const ACCEPTS_GZIP = buildAcceptsPattern('gzip')

/** True when an `If-None-Match` header contains the tag of the current document. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.split(',').some(tag => bare(tag) === '*' || bare(tag) === bare(etag))
}
