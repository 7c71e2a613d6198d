import { WILDCARD } from '../../../../shared/json-path.ts'
import { bindPath, type DocumentPath, formatPath } from './path.ts'

export type PathMatch = {
  path: DocumentPath
  /** what the wildcards matched, in their order */
  bound: (string | number)[]
  /** distinguishes it from other matches of the field: the matched key or index */
  key: string
  value: unknown
}

/**
 * The budget for searching one document, over all its paths. `isExhausted`: some keys were not visited. `longKeys`: the number of
 * places that a path matches only through a key that is too long; they are not matches.
 */
export type PathSearch = { visitsLeft: number; isExhausted: boolean; longKeys: number; keys: Map<object, string[]> }

/** Maximum length of the key of a match. */
export const MAX_KEY_CHARACTERS = 200
const MAX_VISITS = 100_000
/** A visit counts once more for each of these, because every match formats its key. */
const CHARACTERS_PER_VISIT = 64
const MAX_SORTED_KEYS = 10_000

export const createSearch = (): PathSearch => ({
  ...{ visitsLeft: MAX_VISITS, isExhausted: false, longKeys: 0 },
  keys: new Map(),
})

/**
 * Yields every match of a path in a document. The order does not depend on the order in the document: lists by index,
 * objects by key.
 */
export function* findMatches(root: unknown, path: DocumentPath, search: PathSearch): Generator<PathMatch> {
  for (const { value, bound } of walk(root, { path, step: 0, bound: [], keyLength: 0 }, search)) {
    yield { path, bound, key: getMatchKey(path, bound), value }
  }
}

/** Formats the path of a match, below the root. */
export const formatPlace = ({ path, bound }: PathMatch): string => formatPath(bindPath(path, bound))

/** Returns the value at a path without wildcards, or undefined. */
export function getValueAt(root: unknown, path: DocumentPath): unknown {
  let value = root
  for (const step of path) value = step === WILDCARD ? undefined : getChild(value, step)
  return value
}

/** A place on a path. `keyLength`: the length of the key so far, at least. */
type Place = { path: DocumentPath; step: number; bound: (string | number)[]; keyLength: number }

function* walk(
  from: unknown,
  { path, step, bound, keyLength }: Place,
  search: PathSearch,
): Generator<{ value: unknown; bound: (string | number)[] }> {
  let [value, next] = [from, step]
  for (; value !== undefined && next < path.length && path[next] !== WILDCARD; next++) {
    value = getChild(value, path[next]!)
  }
  if (value === undefined) return
  if (next === path.length) {
    yield { value, bound }
    return
  }
  for (const key of listKeys(value, search)) {
    if (search.visitsLeft <= 0) {
      search.isExhausted = true
      return
    }
    // keys after the first have a dot or bracket before them
    const length = keyLength + String(key).length + (bound.length > 0 ? 1 : 0)
    const isTooLong = length > MAX_KEY_CHARACTERS
    search.visitsLeft -= 1 + (isTooLong ? 0 : Math.floor(length / CHARACTERS_PER_VISIT))
    const place = { path, step: next + 1, bound: [...bound, key], keyLength: length }
    const below = walk(getChild(value, key), place, search)
    // below a key that is too long, one match is enough to report the key
    if (!isTooLong || keyLength > MAX_KEY_CHARACTERS) yield* below
    else if (!below.next().done) search.longKeys++
  }
}

/** Returns own properties only, so `constructor` is a key like any other. A key of digits is also the index of an element. */
function getChild(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return /^\d+$/.test(String(step)) ? value[Number(step)] : undefined
  if (typeof step === 'number' || !Object.hasOwn(value, step)) return undefined
  return (value as Record<string, unknown>)[step]
}

function* listKeys(value: unknown, search: PathSearch): Generator<string | number> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) yield* value.keys()
  else yield* sortedKeys(value, search)
}

/** Sorts the keys of an object once, because several paths may lead through one large object. */
function sortedKeys(value: object, search: PathSearch): string[] {
  const known = search.keys.get(value)
  if (known) return known
  const all = Object.keys(value)
  const keys = all.slice(0, MAX_SORTED_KEYS).sort()
  if (all.length > keys.length) search.isExhausted = true
  search.keys.set(value, keys)
  return keys
}

function getMatchKey(path: DocumentPath, bound: (string | number)[]): string {
  if (bound.length > 1) return formatPath(bound.map(String))
  return String(bound[0] ?? path.at(-1) ?? '$')
}
