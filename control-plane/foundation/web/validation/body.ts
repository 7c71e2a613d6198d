import type { IncomingHttpHeaders } from 'node:http'
import { unsupportedMediaType, validationError } from '../server/errors.ts'
import { measureJson } from './json-size.ts'
import { joinPath } from './validation-errors.ts'

/** The number of values and levels of a body. */
export type BodyLimits = { values: number; depth: number }

const BODY_LIMITS: BodyLimits = { values: 50_000, depth: 32 }

/** Characters that PostgreSQL cannot store: NUL, and lone surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u

/**
 * The value of a JSON body; undefined for an empty one. Throws a 400 for bytes that are not UTF-8 or JSON, for text that
 * cannot be stored, for `__proto__` keys, and for too many values or levels, which are counted before anything is parsed.
 */
export function parseBody(bytes: Buffer, limits = BODY_LIMITS): unknown {
  if (bytes.length === 0) return undefined
  const size = measureJson(bytes, limits)
  if (size.values > limits.values) throw tooManyValues(limits)
  if (size.depth > limits.depth) throw tooDeep(limits)
  const value = parseJson(decodeUtf8(bytes))
  assertPlain(value, limits)
  return value
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/gi

/** Throws 415 for a body whose headers say that it is compressed, or in another charset than UTF-8. */
export function assertPlainUtf8(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity')
    throw unsupportedMediaType('the body must not be compressed; send it without Content-Encoding')
  for (const [, quoted, plain = ''] of (headers['content-type'] ?? '').matchAll(CHARSET)) {
    if (!/^utf-?8$/i.test(quoted ?? plain))
      throw unsupportedMediaType('the body must be UTF-8; send it without a charset')
  }
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
export function assertPlain(root: unknown, limits = BODY_LIMITS): void {
  const fault = findBodyFault(root, 0, { values: 1 }, limits)
  if (fault)
    throw buildRefusal(
      fault.keys.reduce((path, { key, isItem }) => joinPath(path, key, isItem), ''),
      fault.sentence,
    )
}

/**
 * Throws 400 when all texts and keys of a value are longer than `maxCharacters`. The same object may be in several places:
 * its text counts in each, but it is read once.
 */
export function assertTextLength(root: unknown, maxCharacters: number, buildError: () => Error, limits = BODY_LIMITS) {
  const known = new Map<object, number>()
  const computeLength = (value: unknown, depth: number): number => {
    if (typeof value === 'string') return value.length
    if (typeof value !== 'object' || value === null) return 0
    const before = known.get(value)
    if (before !== undefined) return before
    // an object that contains itself ends here, too
    if (depth === limits.depth) throw tooDeep(limits)
    let length = 0
    if (!Array.isArray(value)) for (const key of Object.keys(value)) length += key.length
    for (const inner of Object.values(value)) length += computeLength(inner, depth + 1)
    known.set(value, length)
    return length
  }
  if (computeLength(root, 0) > maxCharacters) throw buildError()
}

type Key = { key: string; isItem: boolean }
/** The problem of a value. `keys` is the path to it, collected on the way back, so that valid bodies cost nothing. */
type BodyFault = { keys: Key[]; sentence: string }

function findBodyFault(value: unknown, depth: number, count: { values: number }, limits: BodyLimits): BodyFault | null {
  if (typeof value === 'string') return isStorable(value) ? null : buildFault('contains invalid characters')
  if (value === Infinity || value === -Infinity) return buildFault('is too large for a number')
  if (Number.isNaN(value)) return buildFault('is not a number')
  if (typeof value !== 'object' || value === null) return null
  if (depth === limits.depth) throw tooDeep(limits)
  const isItem = Array.isArray(value)
  const keys = isItem ? null : Object.keys(value)
  const inner = isItem ? value : Object.values(value)
  count.values += inner.length
  if (count.values > limits.values) throw tooManyValues(limits)
  for (let i = 0; i < inner.length; i++) {
    const key = keys?.[i]
    if (key !== undefined && (key === '__proto__' || !isStorable(key)))
      return buildFault('has a key that is not allowed')
    const fault = findBodyFault(inner[i], depth + 1, count, limits)
    if (fault) return { ...fault, keys: [{ key: key ?? String(i), isItem }, ...fault.keys] }
  }
  return null
}

const buildFault = (sentence: string): BodyFault => ({ keys: [], sentence })

const tooManyValues = ({ values }: BodyLimits) => buildRefusal('', `must have at most ${values} values`)
const tooDeep = ({ depth }: BodyLimits) => buildRefusal('', `must be nested at most ${depth} levels deep`)

const buildRefusal = (path: string, sentence: string) =>
  validationError([{ path, message: `${path || 'the body'} ${sentence}` }])
