import { ANY, formatPath, type Path, type Step } from './path.ts'

export type Match = {
  /** what the wildcards matched, in their order */
  bound: (string | number)[]
  /** what tells it from the field's other matches: the matched key or index */
  key: string
  /** where it stands, below the root */
  place: string
  value: unknown
}

/** What looking into one document may cost, over all its paths; `isSpent`: there would have been more to look at. */
export type Search = { visitsLeft: number; isSpent: boolean; keys: Map<object, string[]> }

const MOST_VISITS = 100_000
const MOST_KEYS_SORTED = 10_000

export const newSearch = (): Search => ({ visitsLeft: MOST_VISITS, isSpent: false, keys: new Map() })

/**
 * Every place of a document that a path leads to, in an order that does not hang on the document's: lists by index,
 * objects by key.
 */
export function* matchesOf(root: unknown, path: Path, search: Search): Generator<Match> {
  for (const { value, steps, bound } of walk(root, path, 0, [], [], search)) {
    yield { bound, key: keyOf(path, bound), place: formatPath(steps), value }
  }
}

/** What stands at a path without wildcards; undefined where nothing does. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root
  for (const step of path) value = step === ANY ? undefined : childOf(value, step)
  return value
}

type Found = { value: unknown; steps: Step[]; bound: (string | number)[] }

function* walk(
  value: unknown,
  path: Path,
  depth: number,
  steps: (string | number)[],
  bound: (string | number)[],
  search: Search,
): Generator<Found> {
  if (depth === path.length) {
    if (value !== undefined) yield { value, steps, bound }
    return
  }
  const step = path[depth]!
  if (step !== ANY) {
    yield* walk(childOf(value, step), path, depth + 1, [...steps, step], bound, search)
    return
  }
  for (const key of branchesOf(value, search)) {
    if (search.visitsLeft-- <= 0) {
      search.isSpent = true
      return
    }
    yield* walk(childOf(value, key), path, depth + 1, [...steps, key], [...bound, key], search)
  }
}

/** Own properties only, so `__proto__` and `constructor` are keys like any other. */
function childOf(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return /^\d+$/.test(String(step)) ? value[Number(step)] : undefined
  if (typeof step === 'number' || !Object.hasOwn(value, step)) return undefined
  return (value as Record<string, unknown>)[step]
}

function* branchesOf(value: unknown, search: Search): Generator<string | number> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) yield* value.keys()
  else yield* sortedKeys(value, search)
}

/** Several paths may lead through one large object: its keys are listed once. */
function sortedKeys(value: object, search: Search): string[] {
  const known = search.keys.get(value)
  if (known) return known
  const all = Object.keys(value)
  const keys = all.slice(0, MOST_KEYS_SORTED).sort()
  if (all.length > keys.length) search.isSpent = true
  search.keys.set(value, keys)
  return keys
}

function keyOf(path: Path, bound: (string | number)[]): string {
  if (bound.length > 1) return formatPath(bound.map(String))
  return String(bound[0] ?? path.at(-1) ?? '$')
}
