import { type PathStep, WILDCARD } from '../../../../shared/json-path.ts'
import { type DocumentPath, formatPath } from './path.ts'

export type PathMatch = {
  /** what the wildcards matched, in their order */
  bound: (string | number)[]
  /** distinguishes it from other matches of the field: the matched key or index */
  key: string
  /** path of the value, below the root */
  place: string
  value: unknown
}

/** The budget for searching one document, over all its paths. `isExhausted`: some keys were not visited. */
export type PathSearch = { visitsLeft: number; isExhausted: boolean; keys: Map<object, string[]> }

const MAX_VISITS = 100_000
const MAX_SORTED_KEYS = 10_000

export const createSearch = (): PathSearch => ({ visitsLeft: MAX_VISITS, isExhausted: false, keys: new Map() })

/**
 * Yields every match of a path in a document. The order does not depend on the order in the document: lists by index,
 * objects by key.
 */
export function* findMatches(root: unknown, path: DocumentPath, search: PathSearch): Generator<PathMatch> {
  for (const { value, steps, bound } of walk(root, path, 0, [], [], search)) {
    yield { bound, key: getMatchKey(path, bound), place: formatPath(steps), value }
  }
}

/** Returns the value at a path without wildcards, or undefined. */
export function getValueAt(root: unknown, path: DocumentPath): unknown {
  let value = root
  for (const step of path) value = step === WILDCARD ? undefined : getChild(value, step)
  return value
}

type WalkResult = { value: unknown; steps: PathStep[]; bound: (string | number)[] }

function* walk(
  value: unknown,
  path: DocumentPath,
  depth: number,
  steps: (string | number)[],
  bound: (string | number)[],
  search: PathSearch,
): Generator<WalkResult> {
  if (depth === path.length) {
    if (value !== undefined) yield { value, steps, bound }
    return
  }
  const step = path[depth]!
  if (step !== WILDCARD) {
    yield* walk(getChild(value, step), path, depth + 1, [...steps, step], bound, search)
    return
  }
  for (const key of listKeys(value, search)) {
    if (search.visitsLeft-- <= 0) {
      search.isExhausted = true
      return
    }
    yield* walk(getChild(value, key), path, depth + 1, [...steps, key], [...bound, key], search)
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
