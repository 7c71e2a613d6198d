import { createHash } from 'node:crypto'
import { type Encoding, encodeContent } from '../content-encoding.ts'

/** The response of a public route before compression: a page, a feed, a badge. */
export type PageDocument = {
  /** includes the charset of text */
  contentType: string
  body: string | Buffer
  /** in addition to the headers of every public response: a policy, CORS */
  headers?: Record<string, string>
  /** how long clients may cache it, or `immutable` for an address whose content never changes; defaults to 1 s */
  maxAgeSeconds?: number | 'immutable'
}

/** `head`: names and values of all headers, alternating. */
export type EncodedDocument = { encoding: Encoding; bytes: Buffer; head: string[] }

/** A document that is ready to be sent any number of times. */
export type PreparedDocument = {
  /** all headers except those of the encoding */
  headers: Readonly<Record<string, string>>
  /** weak: the same for all encodings */
  etag: string
  /**
   * The document in the requested encoding, or uncompressed when compression does not help. Encoded once, on the first
   * request.
   */
  encoded(wanted: Encoding): Promise<EncodedDocument>
  /** The same if it has been encoded already, else undefined. */
  getEncoded(wanted: Encoding): EncodedDocument | undefined
  /** of all encodings so far */
  sizeBytes(): number
}

const MIN_COMPRESSED_BYTES = 256
const DAY_SECONDS = 86_400
const YEAR_SECONDS = 365 * DAY_SECONDS

/** Prepares a document to be sent any number of times. */
export function prepareDocument({
  contentType,
  body,
  headers = {},
  maxAgeSeconds = 1,
}: PageDocument): PreparedDocument {
  const plain = Buffer.from(body)
  const hash = createHash('sha256').update(contentType).update(plain).digest('base64url').slice(0, 22)
  const isCompressed = plain.length >= MIN_COMPRESSED_BYTES && isCompressible(contentType)
  const pending = new Map<Encoding, Promise<EncodedDocument>>()
  const done = new Map<Encoding, EncodedDocument>()
  const pickEffective = (wanted: Encoding) => (isCompressed ? wanted : 'identity')
  let sizeBytes = plain.length

  const etag = `W/"${hash}"`
  const all: Record<string, string> = {
    ...headers,
    'content-type': contentType,
    etag,
    vary: 'accept-encoding',
    'cache-control':
      maxAgeSeconds === 'immutable'
        ? `public, max-age=${YEAR_SECONDS}, immutable`
        : `public, max-age=${maxAgeSeconds}, stale-if-error=${DAY_SECONDS}`,
  }

  async function encode(encoding: Encoding): Promise<EncodedDocument> {
    const bytes = await encodeContent(plain, encoding)
    if (encoding !== 'identity') sizeBytes += bytes.length
    const head = Object.entries({
      ...all,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      'content-length': String(bytes.length),
    }).flat()
    const encoded = { encoding, bytes, head }
    done.set(encoding, encoded)
    return encoded
  }

  return {
    etag,
    headers: all,
    sizeBytes: () => sizeBytes,
    encoded(wanted) {
      const encoding = pickEffective(wanted)
      const encoded = pending.get(encoding) ?? encode(encoding)
      pending.set(encoding, encoded)
      return encoded
    },
    getEncoded: wanted => done.get(pickEffective(wanted)),
  }
}

const isCompressible = (contentType: string) =>
  /^(text\/|image\/svg|application\/(json|rss|atom|javascript|xml))/.test(contentType)
