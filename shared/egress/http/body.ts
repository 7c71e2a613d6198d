import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import * as zlib from 'node:zlib'
import { SAMPLE_BYTES } from '../../checks/check.ts'
import { createTargetFailure } from '../failure.ts'

export type BodyOptions = {
  /** after decompression; the rest is not read */
  maxBytes: number
  /** false: only a sample is kept and decompressed */
  keepAll: boolean
}

/** The part of the body received so far; kept when the rest fails. */
export type ReceivedBody = { chunks: Buffer[]; size: number; isCompressed: boolean }

export type Body = { bytes: Buffer; truncated: boolean }

/**
 * Reads a response's body up to a limit. Calls `done`, or `fail` when a body that is kept cannot be decompressed; the first
 * call counts. Errors of the response itself are handled by the caller.
 */
export function readBody(
  response: IncomingMessage,
  { maxBytes: limit, keepAll }: BodyOptions,
  received: ReceivedBody,
  done: (body: Body) => void,
  fail: (error: unknown) => void,
): void {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const kept = keepAll ? limit : Math.min(limit, SAMPLE_BYTES)
  let decoder: Duplex | null = null

  const take = (chunk: Buffer) => {
    const room = kept - received.size
    received.size += chunk.length
    if (room > 0) received.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (received.size > limit) finish(true)
  }
  const finish = (truncated: boolean) => {
    decoder?.destroy()
    const bytes = joinChunks(received)
    if (!received.isCompressed) done({ bytes, truncated })
    else decompressSample(bytes, encoding, sample => done({ bytes: sample, truncated }))
  }
  const decode = (first: Buffer) => {
    decoder = createDecoder(encoding, first)
    if (decoder === null) {
      take(first)
      return response.on('data', take).on('end', () => finish(false))
    }
    decoder.on('data', take).on('end', () => finish(false))
    decoder.on('error', () => fail(createTargetFailure('invalid_response', `the body is not valid ${encoding}`)))
    response.on('error', () => decoder?.destroy())
    decoder.write(first)
    return response.pipe(decoder)
  }

  if (encoding === 'identity' || !keepAll) {
    received.isCompressed = encoding !== 'identity'
    response.on('data', take).on('end', () => finish(false))
    return
  }
  // The response to a HEAD names an encoding but has no body to decompress.
  const onEmpty = () => finish(false)
  response.once('end', onEmpty).once('data', first => {
    response.off('end', onEmpty)
    decode(first)
  })
}

/** Concatenates the received chunks. */
export function joinChunks({ chunks }: ReceivedBody): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** Decompresses the beginning of a truncated body. Empty when it is not in the declared encoding. */
function decompressSample(bytes: Buffer, encoding: string, done: (sample: Buffer) => void): void {
  const decoder = bytes.length === 0 ? null : createDecoder(encoding, bytes)
  if (decoder === null) {
    done(bytes)
    return
  }
  const sample: ReceivedBody = { chunks: [], size: 0, isCompressed: false }
  let isDone = false
  const finish = () => {
    if (isDone) return
    isDone = true
    decoder.destroy()
    done(joinChunks(sample).subarray(0, SAMPLE_BYTES))
  }
  decoder.on('data', (chunk: Buffer) => {
    sample.chunks.push(chunk)
    sample.size += chunk.length
    if (sample.size >= SAMPLE_BYTES) finish()
  })
  // Not `end`: the decoder would discard its output and report a truncated stream.
  decoder.on('error', finish).write(bytes, () => setImmediate(finish))
}

type CreateDecoder = (first: Buffer) => Duplex

/** available since Node 22.15 */
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Duplex }

const DECODERS: Record<string, CreateDecoder> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  // Some servers send a raw deflate stream; a zlib header begins with method 8.
  deflate: first => (((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  ...(createZstdDecompress && { zstd: () => createZstdDecompress() }),
}

function createDecoder(encoding: string, first: Buffer): Duplex | null {
  return Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!(first) : null
}
