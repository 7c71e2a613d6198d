import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag, pickEncoding } from '../content-encoding.ts'
import type { EncodedDocument, PreparedDocument } from './prepared-document.ts'

/**
 * Sends a document in the smallest accepted encoding, or 304 when the client has it. It writes the prepared headers
 * directly, because Fastify would process each header again for every visitor.
 */
export function sendDocument(document: PreparedDocument, request: FastifyRequest, reply: FastifyReply): unknown {
  const { 'if-none-match': tags, 'accept-encoding': accepted } = request.headers
  // no 304 for If-Modified-Since: two changes within a second, or a text that was withdrawn, do not move Last-Modified
  if (matchesEtag(tags, document.etag)) return reply.code(304).headers(document.headers).send()
  const wanted = pickEncoding(accepted)
  const ready = document.getEncoded(wanted)
  return ready ? sendNow(ready, reply) : document.encoded(wanted).then(encoded => sendNow(encoded, reply))
}

function sendNow({ head, bytes }: EncodedDocument, reply: FastifyReply): void {
  const all = head.slice()
  const own = reply.getHeaders()
  for (const name in own) all.push(name, String(own[name]))
  reply.hijack()
  reply.raw.writeHead(200, all).end(bytes)
}
