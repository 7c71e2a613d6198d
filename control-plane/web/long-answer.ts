import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPauses, type Pause } from '../platform/clock.ts'

/** What is written at once: some 2 ms at worst. A value weighs 1, and a text 1 more for so many characters. */
const MOST_AT_ONCE = 5_000
const TEXT_UNIT = 100

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
  yield '['
  let from = 0
  while (from < list.length) {
    if (from > 0) yield ','
    const to = endOfPiece(list, from)
    if (to - from > 1) yield textOf(list.slice(from, to)).slice(1, -1)
    else yield* piecesOf(list[from] ?? null)
    from = to
  }
  yield ']'
}

/** So many neighbours weigh no more than a piece may; one in any case. */
function endOfPiece(list: unknown[], from: number): number {
  let weight = 0
  for (let to = from; to < list.length; to++) {
    weight += weigh(list[to], MOST_AT_ONCE - weight)
    if (weight >= MOST_AT_ONCE) return Math.max(to, from + 1)
  }
  return list.length
}

function* piecesOfRecord(record: Record<string, unknown>): Generator<string> {
  let before = '{'
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* piecesOf(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

const textOf = (value: unknown) => JSON.stringify(value) ?? 'null'

/** What is not walked into: what is no container, and what says itself how it is written. */
const isLeaf = (value: unknown) => typeof value !== 'object' || value === null || 'toJSON' in value

/** No more than `most` is looked at. */
function weigh(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + value.length / TEXT_UNIT
  if (isLeaf(value)) return 1
  let weight = 1
  for (const key in value as Record<string, unknown>) {
    if (weight >= most) return weight
    const inner = (value as Record<string, unknown>)[key]
    // every answer is weighed, and most values of one are none to walk into
    if (typeof inner === 'string') weight += 1 + inner.length / TEXT_UNIT
    else weight += inner !== null && typeof inner === 'object' ? weigh(inner, most - weight) : 1
  }
  return weight
}

const weighsMore = (value: unknown, most: number) => weigh(value, most + 1) > most
