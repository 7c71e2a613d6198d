import { validationError } from './errors.ts'
import { joinPath } from './validation.ts'

const MAX_DEPTH = 32
const MAX_VALUES = 50_000

/** Characters that PostgreSQL cannot keep: NUL, and halves of a surrogate pair. */
const UNSTORABLE = /\0|\p{Surrogate}/u

/**
 * The value of a JSON body; undefined for an empty one. Throws a 400 for what is not UTF-8 or JSON, for text that
 * cannot be stored, for `__proto__` keys, and for nesting or a number of values that no request needs.
 */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const value = parseJson(decodeUtf8(bytes))
  assertPlain(value)
  return value
}

/** True for a text that can be stored as it is. */
export const isStorable = (text: string) => !UNSTORABLE.test(text)

/** Throws 400 for what is not UTF-8. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw validationError([{ path: '', message: 'the body is not valid UTF-8' }])
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw validationError([{ path: '', message: 'the body is not valid JSON' }])
  }
}

/** Throws 400 for what no body may hold, however it was written. */
export function assertPlain(root: unknown): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }]
  let seen = 0
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, path, depth } = item
    if (++seen > MAX_VALUES) throw refuse('', `has more than ${MAX_VALUES} values`)
    if (typeof value === 'string' && !isStorable(value)) throw refuse(path, 'holds characters that are not text')
    if (value === Infinity || value === -Infinity) throw refuse(path, 'is a number that is too large')
    if (Number.isNaN(value)) throw refuse(path, 'is not a number')
    if (typeof value !== 'object' || value === null) continue
    if (depth === MAX_DEPTH) throw refuse('', `is nested more than ${MAX_DEPTH} deep`)
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__' || !isStorable(key)) throw refuse(path, 'has a key that is not allowed')
      open.push({ value: inner, path: joinPath(path, key, Array.isArray(value)), depth: depth + 1 })
    }
  }
}

const refuse = (path: string, sentence: string) =>
  validationError([{ path, message: `${path || 'the body'} ${sentence}` }])
