import iconv from 'iconv-lite'
import type { Observation } from './result.ts'

/** Decodes a body by the charset of its content type, else its byte order mark, else as UTF-8. Never throws. */
export function decodeBody({ body, headers }: Pick<Observation, 'body' | 'headers'>): string {
  if (body === null) return ''
  const charset = /charset\s*=\s*["']?([\w.:-]+)/i.exec(headers?.['content-type'] ?? '')?.[1]?.toLowerCase()
  const encoding = charset ?? (startsWithUtf16Mark(body) ? 'utf-16' : 'utf-8')
  if (encoding === 'utf-8' || encoding === 'utf8' || !iconv.encodingExists(encoding)) {
    const text = body.toString('utf8')
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  return iconv.decode(body, encoding)
}

function startsWithUtf16Mark(body: Buffer): boolean {
  return (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff)
}
