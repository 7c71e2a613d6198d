/** A mail as a person reads it. */
export type ReadMail = {
  /** by name in lower case, unfolded and decoded, the first of each name */
  headers: Record<string, string>
  text: string | null
  html: string | null
}

const DEPTH_LIMIT = 10

/** Reads the mail that Picket sends: multipart, quoted-printable or base64, UTF-8. What else is in it is left out. */
export function readMail(bytes: Buffer, depth = 0): ReadMail {
  const raw = bytes.toString('latin1')
  const end = /\r?\n\r?\n/.exec(raw)
  const headers = readHeaders(end ? raw.slice(0, end.index) : raw)
  const body = end ? raw.slice(end.index + end[0].length) : ''
  const type = headers['content-type'] ?? 'text/plain'
  const boundary = /^multipart\/.*\bboundary="?([^";]+)"?/is.exec(type)?.[1]
  if (boundary !== undefined && depth < DEPTH_LIMIT) {
    const parts = partsOf(body, boundary).map(part => readMail(Buffer.from(part, 'latin1'), depth + 1))
    const first = (half: 'text' | 'html') => parts.find(part => part[half] !== null)?.[half] ?? null
    return { headers, text: first('text'), html: first('html') }
  }
  const content = decode(body, headers['content-transfer-encoding'] ?? '7bit').replaceAll('\r\n', '\n')
  return {
    headers,
    text: /^text\/plain/i.test(type) ? content : null,
    html: /^text\/html/i.test(type) ? content : null,
  }
}

function readHeaders(block: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? []
    if (name !== '') headers[name.toLowerCase()] ??= decodeWords(value.trim())
  }
  return headers
}

function partsOf(body: string, boundary: string): string[] {
  const sections = `\r\n${body}`.split(`\r\n--${boundary}`)
  return sections
    .slice(1)
    .filter(section => !section.startsWith('--'))
    .map(section => section.replace(/^\r?\n/, ''))
}

function decode(body: string, encoding: string): string {
  const kind = encoding.toLowerCase()
  if (kind === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  return Buffer.from(kind === 'quoted-printable' ? unquote(body.replace(/=\r?\n/g, '')) : body, 'latin1').toString(
    'utf8',
  )
}

const unquote = (text: string) =>
  text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))

/** `=?UTF-8?Q?…?=` in a header; words beside each other are one text. */
function decodeWords(value: string): string {
  const joined = value.replace(/(\?=)\s+(?==\?)/g, '$1')
  return joined.replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, text: string) => {
    const isBase64 = kind.toLowerCase() === 'b'
    return isBase64
      ? Buffer.from(text, 'base64').toString('utf8')
      : Buffer.from(unquote(text.replaceAll('_', ' ')), 'latin1').toString('utf8')
  })
}
