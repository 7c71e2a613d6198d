import type { ClientRequest } from 'node:http'
import { hasControlCharacter } from '../../control-characters.ts'

/** Node's parser of responses. It is not documented, but the same in Node 20, 22 and 24; without a member nothing is changed. */
type ResponseParser = {
  constructor: Partial<Record<string, number>>
  initialize?: (type: number, resource: object, maxHeaderBytes: number, flags: number) => void
}

/**
 * What servers send that browsers read: control characters and folded lines in headers, Content-Length with chunks, lines that
 * end with LF only, spaces after the size of a chunk. `insecureHTTPParser` cannot be used: it also accepts chunks of a wrong
 * size, and any version of HTTP. A flag that this Node does not have is left out.
 */
const ACCEPTED_FLAGS = [
  'kLenientHeaders',
  'kLenientChunkedLength',
  'kLenientOptionalCRBeforeLF',
  'kLenientSpacesAfterChunkSize',
]

/** Accepts responses to this request that are not valid HTTP, but that browsers read (docs/design/egress.md#malformed-responses). */
export function acceptMalformed(request: ClientRequest, maxHeaderBytes: number): void {
  // Node assigns the parser just before this event, and nothing has been parsed yet.
  request.once('socket', () => {
    const { parser } = request as unknown as { parser: ResponseParser | null }
    const known = parser?.constructor
    if (known?.RESPONSE === undefined) return
    const flags = ACCEPTED_FLAGS.reduce((all, name) => all | (known[name] ?? 0), 0)
    parser?.initialize?.(known.RESPONSE, { type: 'HTTPINCOMINGMESSAGE', req: request }, maxHeaderBytes, flags)
  })
}

/** Why a response is refused that was parsed with `acceptMalformed`, or null. `headers`: name, value, name, value … */
export function findHeaderProblem(headers: string[]): string | null {
  let hasLength = false
  let coding: string | null = null
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!.toLowerCase(), headers[i + 1]!]
    if (value.includes('\0')) return 'a header contains a NUL character'
    if (name === 'content-length') hasLength = true
    if (name === 'transfer-encoding') coding = coding === null ? value : `${coding}, ${value}`
  }
  // In these cases the parser would read until the connection is closed, so a body that is cut off would look complete.
  if (coding === null || coding.toLowerCase() === 'chunked') return null
  if (hasLength) return 'Content-Length cannot be combined with this Transfer-Encoding'
  return hasControlCharacter(coding) ? 'Transfer-Encoding contains a control character' : null
}
