import { parsePathSteps } from '../json-path.ts'

/** Keys and indexes from the root on. */
export type JsonPath = (string | number)[]

/** Parses a path such as `$.a.b[0]['c d']` at the start of a text (shared/json-path.ts). Null if there is none. */
export function parseJsonPath(text: string): { path: JsonPath; rest: string } | null {
  if (!text.startsWith('$')) return null
  const { steps, end } = parsePathSteps(text, 1, 'plain')
  return { path: steps, rest: text.slice(end) }
}

/** The value at the path, or undefined. Own properties only; a key of digits selects no element of a list. */
export function resolveJsonPath(root: unknown, path: JsonPath): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    if ((typeof step === 'number') !== Array.isArray(value)) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}
