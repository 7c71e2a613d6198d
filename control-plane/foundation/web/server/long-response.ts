import type { FastifyReply, FastifyRequest } from 'fastify'
import { createYieldPoint, type YieldPoint } from '../../platform/time/clock.ts'
import { exceedsWeight, isLeaf, splitByWeight } from './json-weight.ts'

/** A chunk takes about 2 ms at worst. */
const MAX_CHUNK_WEIGHT = 5_000

/** preSerialization hook: serializes a long response in chunks and yields to other work between them (docs/design/api.md#long-answers). */
export function serializeLongResponse(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  if (!exceedsWeight(payload, MAX_CHUNK_WEIGHT)) {
    done(null, payload)
    return
  }
  stringifyInChunks(payload, createYieldPoint()).then(bytes => {
    // Fastify sends bytes unchanged, although its types allow strings only
    reply.serializer((() => bytes) as unknown as () => string)
    done(null, payload)
  }, done)
}

/** The same JSON as JSON.stringify. */
export async function stringifyInChunks(value: unknown, pause: YieldPoint): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (const chunk of generateChunks(value)) {
    chunks.push(Buffer.from(chunk))
    await pause()
  }
  return Buffer.concat(chunks)
}

function* generateChunks(value: unknown): Generator<string> {
  if (isLeaf(value) || !exceedsWeight(value, MAX_CHUNK_WEIGHT)) yield stringify(value)
  else if (Array.isArray(value)) yield* generateListChunks(value)
  else yield* generateRecordChunks(value as Record<string, unknown>)
}

/** Small neighbours are written together, because 100,000 chunks would cost more than their content. */
function* generateListChunks(list: unknown[]): Generator<string> {
  let before = '['
  for (const neighbours of splitByWeight(list, MAX_CHUNK_WEIGHT)) {
    yield before
    if (neighbours.length > 1) yield stringify(neighbours).slice(1, -1)
    else yield* generateChunks(neighbours[0])
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function* generateRecordChunks(record: Record<string, unknown>): Generator<string> {
  let before = '{'
  for (const [key, value] of Object.entries(record)) {
    // as JSON.stringify does
    if (isOmitted(value)) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* generateChunks(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

const isOmitted = (value: unknown) => isLeaf(value) && JSON.stringify(value) === undefined

const stringify = (value: unknown) => JSON.stringify(value) ?? 'null'
