import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** What a public route answers, before it is compressed: a page, a feed, a badge. */
export type PageDocument = {
  /** with its charset where it is text */
  contentType: string
  body: string | Buffer
  /** beyond those of every public answer: a policy, CORS */
  headers?: Record<string, string>
  /** how long somebody may keep it without asking; 1 s unless said */
  maxAgeSeconds?: number
}

export type Encoding = 'identity' | 'gzip' | 'br'
/** `head`: names and values of all headers in turn. */
export type EncodedDocument = { encoding: Encoding; bytes: Buffer; head: string[] }

/** A document that is ready to be sent any number of times. */
export type PreparedDocument = {
  /** all but those of the encoding */
  headers: Readonly<Record<string, string>>
  /** weak: the same for all encodings */
  etag: string
  /** In the encoding that was asked for, if that is of use; made once, when it is first asked for. */
  encoded(wanted: Encoding): Promise<EncodedDocument>
  /** The same where it has been made already; undefined where not. */
  getEncoded(wanted: Encoding): EncodedDocument | undefined
  /** of all encodings that are made by now */
  sizeBytes(): number
}

const BROTLI_QUALITY = 5
const MIN_COMPRESSED_BYTES = 256
const DAY_SECONDS = 86_400

const COMPRESS = {
  gzip: promisify(gzip),
  br: (body: Buffer) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
}

/** Readies a document. */
export function prepareDocument({
  contentType,
  body,
  headers = {},
  maxAgeSeconds = 1,
}: PageDocument): PreparedDocument {
  const plain = Buffer.from(body)
  const hash = createHash('sha256').update(contentType).update(plain).digest('base64url').slice(0, 22)
  const isWorthIt = plain.length >= MIN_COMPRESSED_BYTES && isCompressible(contentType)
  const making = new Map<Encoding, Promise<EncodedDocument>>()
  const made = new Map<Encoding, EncodedDocument>()
  const useful = (wanted: Encoding) => (isWorthIt ? wanted : 'identity')
  let sizeBytes = plain.length

  const etag = `W/"${hash}"`
  const all: Record<string, string> = {
    ...headers,
    'content-type': contentType,
    etag,
    vary: 'accept-encoding',
    'cache-control': `public, max-age=${maxAgeSeconds}, stale-if-error=${DAY_SECONDS}`,
  }

  async function encode(encoding: Encoding): Promise<EncodedDocument> {
    const bytes = encoding === 'identity' ? plain : await COMPRESS[encoding](plain)
    if (encoding !== 'identity') sizeBytes += bytes.length
    const head = Object.entries({
      ...all,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      'content-length': String(bytes.length),
    }).flat()
    const encoded = { encoding, bytes, head }
    made.set(encoding, encoded)
    return encoded
  }

  return {
    etag,
    headers: all,
    sizeBytes: () => sizeBytes,
    encoded(wanted) {
      const encoding = useful(wanted)
      const encoded = making.get(encoding) ?? encode(encoding)
      making.set(encoding, encoded)
      return encoded
    },
    getEncoded: wanted => made.get(useful(wanted)),
  }
}

/** The encoding that an `Accept-Encoding` header asks for, the smallest first. */
export function pickEncoding(header = ''): Encoding {
  if (ACCEPTS_BROTLI.test(header)) return 'br'
  return ACCEPTS_GZIP.test(header) ? 'gzip' : 'identity'
}

/** `br;q=0` is none. */
const buildAcceptsPattern = (name: string) =>
  new RegExp(`(?:^|,)\\s*${name}\\s*(?:,|$|;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$)))`, 'i')
const ACCEPTS_BROTLI = buildAcceptsPattern('br')
const ACCEPTS_GZIP = buildAcceptsPattern('gzip')

/** True when an `If-None-Match` header names the document that somebody would get. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.split(',').some(tag => bare(tag) === '*' || bare(tag) === bare(etag))
}

/** The same where somebody keeps a time instead; a tag says it better, and then the time says nothing (RFC 9110, 13.1.3). */
export function isNotModified(
  request: { tags: string | undefined; since: string | undefined },
  made: PreparedDocument,
): boolean {
  if (request.tags !== undefined || request.since === undefined) return matchesEtag(request.tags, made.etag)
  return Date.parse(made.headers['last-modified'] ?? '') <= Date.parse(request.since)
}

const isCompressible = (contentType: string) =>
  /^(text\/|image\/svg|application\/(json|rss|atom|javascript|xml))/.test(contentType)
