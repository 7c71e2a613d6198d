import { validationError } from '../server/errors.ts'
import { measureJson } from './json-size.ts'
import { joinPath } from './validation-errors.ts'

const MAX_DEPTH = 32
const MAX_VALUES = 50_000

/** Characters that PostgreSQL cannot store: NUL, and lone surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u

/**
 * The value of a JSON body; undefined for an empty one. Throws a 400 for bytes that are not UTF-8 or JSON, for text that
 * cannot be stored, for `__proto__` keys, and for too many values or levels, which are counted before anything is parsed.
 */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const size = measureJson(bytes, { values: MAX_VALUES, depth: MAX_DEPTH })
  if (size.values > MAX_VALUES) throw tooManyValues()
  if (size.depth > MAX_DEPTH) throw tooDeep()
  const value = parseJson(decodeUtf8(bytes))
  assertPlain(value)
  return value
}

/** True for a text that PostgreSQL can store. */
export const isStorable = (text: string) => !UNSTORABLE.test(text)

/** Throws 400 for bytes that are not UTF-8. */
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

/** Throws 400 for values that no body may contain, in whatever format it was written. */
export function assertPlain(root: unknown): void {
  const fault = findBodyFault(root, 0, { values: 1 })
  if (fault)
    throw buildRefusal(
      fault.keys.reduce((path, { key, isItem }) => joinPath(path, key, isItem), ''),
      fault.sentence,
    )
}

type Key = { key: string; isItem: boolean }
/** The problem of a value. `keys` is the path to it, collected on the way back, so that valid bodies cost nothing. */
type BodyFault = { keys: Key[]; sentence: string }

function findBodyFault(value: unknown, depth: number, count: { values: number }): BodyFault | null {
  if (typeof value === 'string') return isStorable(value) ? null : buildFault('contains invalid characters')
  if (value === Infinity || value === -Infinity) return buildFault('is too large for a number')
  if (Number.isNaN(value)) return buildFault('is not a number')
  if (typeof value !== 'object' || value === null) return null
  if (depth === MAX_DEPTH) throw tooDeep()
  const isItem = Array.isArray(value)
  const keys = isItem ? null : Object.keys(value)
  const inner = isItem ? value : Object.values(value)
  count.values += inner.length
  if (count.values > MAX_VALUES) throw tooManyValues()
  for (let i = 0; i < inner.length; i++) {
    const key = keys?.[i]
    if (key !== undefined && (key === '__proto__' || !isStorable(key)))
      return buildFault('has a key that is not allowed')
    const fault = findBodyFault(inner[i], depth + 1, count)
    if (fault) return { ...fault, keys: [{ key: key ?? String(i), isItem }, ...fault.keys] }
  }
  return null
}

const buildFault = (sentence: string): BodyFault => ({ keys: [], sentence })

const tooManyValues = () => buildRefusal('', `must have at most ${MAX_VALUES} values`)
const tooDeep = () => buildRefusal('', `must be nested at most ${MAX_DEPTH} levels deep`)

const buildRefusal = (path: string, sentence: string) =>
  validationError([{ path, message: `${path || 'the body'} ${sentence}` }])
