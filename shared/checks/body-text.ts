import iconv from 'iconv-lite'
import type { Observation } from './result.ts'

/**
 * Decodes a body as browsers do: by its byte order mark, else by the charset of its content type, else of a `meta` element in
 * HTML, else as UTF-8. Never throws.
 */
export function decodeBody({ body, headers }: Pick<Observation, 'body' | 'headers'>): string {
  if (body === null) return ''
  const encoding = findMark(body) ?? findDeclaredEncoding(headers) ?? findMetaEncoding(body, headers) ?? 'utf-8'
  if (encoding === 'utf-8') {
    const text = body.toString('utf8')
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  return iconv.encodingExists(encoding) ? iconv.decode(body, encoding) : new TextDecoder(encoding).decode(body)
}

function findMark(body: Buffer): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  const isUtf16 = (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff)
  return isUtf16 ? 'utf-16' : null
}

const CHARSET = /charset\s*=\s*["']?([\w.:-]+)/i

/** The encoding that a content type names, or null. */
const readContentType = (text: string) => resolveLabel(CHARSET.exec(text)?.[1])

const findDeclaredEncoding = (headers: Observation['headers']) => readContentType(headers?.['content-type'] ?? '')

/** Encodings that the Encoding standard uses for the labels of smaller ones: ISO-8859-1 is windows-1252. */
const EXTENDED = new Set(['windows-1252', 'windows-1254', 'windows-874'])

/** In the standard, and not known to Node. */
const UNKNOWN_TO_NODE = 'iso-8859-16'

/**
 * The encoding of a label, or null when it is not in the Encoding standard: iconv-lite knows more, such as UTF-7, whose decoding
 * can take very long. Otherwise iconv-lite decodes where it can: TextDecoder of Node 20 decodes windows-1252 as ISO-8859-1, and
 * not all of EUC-KR.
 */
function resolveLabel(label: string | undefined): string | null {
  if (label === undefined) return null
  const name = label.toLowerCase()
  if (name === 'utf-8' || name === 'utf8') return 'utf-8'
  const standard = name === UNKNOWN_TO_NODE ? name : getStandardName(name)
  if (standard === null || EXTENDED.has(standard)) return standard
  return iconv.encodingExists(name) ? name : standard
}

/** The name of an encoding in the Encoding standard, or null when Node does not know the label. */
function getStandardName(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

/** A `meta` element has to be complete within these bytes. */
const PRESCAN_BYTES = 1_024
const HTML_TYPE = /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i
const META = /<meta[\s/]([^>]*)>/gi
/** Two or four bytes a character: the element could not have been found, so the page is in UTF-8, as the HTML standard says. */
const WIDE = /^(utf-?(16|32)|ucs-?[24])/
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g

/** The encoding that a `meta` element at the beginning of an HTML page declares, or null. */
function findMetaEncoding(body: Buffer, headers: Observation['headers']): string | null {
  const type = headers?.['content-type']
  if (headers === null || (type !== undefined && !HTML_TYPE.test(type))) return null
  const start = body.toString('latin1', 0, PRESCAN_BYTES).replace(/<!--[\s\S]*?(-->|$)/g, '')
  for (const [, attributes = ''] of start.matchAll(META)) {
    const encoding = readMeta(attributes)
    if (encoding !== null) return WIDE.test(encoding) ? 'utf-8' : encoding
  }
  return null
}

function readMeta(attributes: string): string | null {
  const values = new Map<string, string>()
  for (const [, name = '', double, single, bare] of attributes.matchAll(ATTRIBUTE)) {
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, double ?? single ?? bare ?? '')
  }
  const charset = values.get('charset')
  if (charset !== undefined) return resolveLabel(charset.trim())
  const isContentType = values.get('http-equiv')?.trim().toLowerCase() === 'content-type'
  return isContentType ? readContentType(values.get('content') ?? '') : null
}
