import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPauses, type Pause } from '../platform/clock.ts'
import { isLeaf, piecesOfWeight, weighsMore } from './weight.ts'

/** What is written at once: some 2 ms at worst. */
const MOST_AT_ONCE = 5_000

/** preSerialization: an answer that takes long to write is written in pieces, with turns for others between them. */
export function writeLongAnswer(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  if (!weighsMore(payload, MOST_AT_ONCE)) {
    done(null, payload)
    return
  }
  writeJson(payload, createPauses()).then(bytes => {
    // Fastify sends bytes as they are, its types know texts only
    reply.serializer((() => bytes) as unknown as () => string)
    done(null, payload)
  }, done)
}

/** The JSON of a value, as JSON.stringify writes it. */
export async function writeJson(value: unknown, pause: Pause): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const piece of piecesOf(value)) {
    pieces.push(Buffer.from(piece))
    await pause()
  }
  return Buffer.concat(pieces)
}

function* piecesOf(value: unknown): Generator<string> {
  if (isLeaf(value) || !weighsMore(value, MOST_AT_ONCE)) yield textOf(value)
  else if (Array.isArray(value)) yield* piecesOfList(value)
  else yield* piecesOfRecord(value as Record<string, unknown>)
}

/** Neighbours that are small are written together: 100,000 pieces would cost more than what is in them. */
function* piecesOfList(list: unknown[]): Generator<string> {
  let before = '['
  for (const neighbours of piecesOfWeight(list, MOST_AT_ONCE)) {
    yield before
    if (neighbours.length > 1) yield textOf(neighbours).slice(1, -1)
    else yield* piecesOf(neighbours[0])
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function* piecesOfRecord(record: Record<string, unknown>): Generator<string> {
  let before = '{'
  for (const [key, value] of Object.entries(record)) {
    // as JSON.stringify does
    if (textIsLeftOut(value)) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* piecesOf(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

const textIsLeftOut = (value: unknown) => isLeaf(value) && JSON.stringify(value) === undefined

const textOf = (value: unknown) => JSON.stringify(value) ?? 'null'
