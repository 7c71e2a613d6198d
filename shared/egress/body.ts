import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { targetFailure } from './failure.ts'

export type Body = { bytes: Buffer | null; truncated: boolean }

/**
 * Reads a response's body up to `limit` bytes, counted after decompression, and then stops. With `keep` false it only
 * waits for the end or the limit, of what came over the wire. Calls `done`, or `fail` when the body cannot be decoded;
 * the first call counts. The response's own errors are the caller's.
 */
export function readBody(
  response: IncomingMessage,
  encoding: string | undefined,
  limit: number,
  keep: boolean,
  done: (body: Body) => void,
  fail: (error: unknown) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  let decoder: Duplex | null = null
  const isEncoded = keep && encoding !== undefined && encoding !== 'identity'

  const finish = (truncated: boolean) => {
    decoder?.destroy()
    done({ bytes: keep ? joined(chunks) : null, truncated })
  }
  const take = (chunk: Buffer) => {
    const room = limit - size
    size += chunk.length
    if (keep && room > 0) chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (size > limit) finish(true)
  }
  const decode = (first: Buffer) => {
    decoder = decoderOf(encoding!, first)
    if (decoder === null) {
      take(first)
      return response.on('data', take).on('end', () => finish(false))
    }
    decoder.on('data', take).on('end', () => finish(false))
    decoder.on('error', () => fail(targetFailure('invalid_response', `the body is not valid ${encoding}`)))
    response.on('error', () => decoder?.destroy())
    decoder.write(first)
    return response.pipe(decoder)
  }

  if (!isEncoded) {
    response.on('data', take).on('end', () => finish(false))
    return
  }
  // Only a body that is there is decoded: the answer to a HEAD names an encoding too.
  const onEmpty = () => finish(false)
  response.once('end', onEmpty).once('data', first => {
    response.off('end', onEmpty)
    decode(first)
  })
}

function joined(chunks: Buffer[]): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function decoderOf(encoding: string, first: Buffer): Duplex | null {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      // Some servers send the bare stream; zlib's own header begins with its method, 8.
      return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()
    case 'br':
      return createBrotliDecompress()
    default:
      return null
  }
}
