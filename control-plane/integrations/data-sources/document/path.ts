import { type PathStep, parsePathSteps, WILDCARD } from '../../../../shared/json-path.ts'

export type DocumentPath = readonly PathStep[]

const MAX_PATH_CHARACTERS = 500
const MAX_STEPS = 32
const MAX_WILDCARDS = 4

/**
 * Parses a path such as `services.*.checks[0]["a.b"]`: keys between dots, `[n]`, `*` and `[*]`, and quoted keys
 * (shared/json-path.ts). A leading `$` is the root. Returns a problem when the path is not valid.
 */
export function parsePath(text: string): DocumentPath | { problem: string } {
  if (text.length > MAX_PATH_CHARACTERS) return { problem: `must have at most ${MAX_PATH_CHARACTERS} characters` }
  const start = text.startsWith('$') && /^[.[]?$/.test(text.slice(1, 2)) ? 1 : 0
  const { steps, end } = parsePathSteps(text, start, 'wildcards')
  if (end < text.length) return { problem: describeProblemAt(text, end) }
  if (text.trim() === '') return { problem: 'must not be empty; $ is the whole document' }
  if (steps.length > MAX_STEPS) return { problem: `must have at most ${MAX_STEPS} steps` }
  if (countWildcards(steps) > MAX_WILDCARDS) return { problem: `must have at most ${MAX_WILDCARDS} wildcards` }
  return steps
}

/** Common mistakes, from the syntax of other path languages. */
const MISTAKES: [RegExp, string][] = [
  [/^\.\./, 'recursive descent (..) is not supported; write every step'],
  [/^\[\?/, 'filters such as [?(…)] are not supported; use * and a rule'],
  [/^\[-?\d*:/, 'slices such as [0:2] are not supported; use [*]'],
  [/^\[-/, 'an index must be 0 or greater'],
  [/^\.?$/, 'the path ends with a dot'],
  [/^\[/, 'brackets must contain an index, * or a quoted key, such as [0], [*] or ["a key"]'],
  [/^\.?\*|^\.?[^.[]*\*/, '* must be a step of its own; write a key that contains * as ["a*b"]'],
]

function describeProblemAt(text: string, at: number): string {
  const rest = text.slice(at)
  const [, why = 'keys must be separated by dots; write a key with other characters as ["a key"]'] =
    MISTAKES.find(([pattern]) => pattern.test(rest)) ?? []
  return `is invalid at character ${at + 1}: ${why}`
}

export const countWildcards = (path: DocumentPath): number => path.filter(step => step === WILDCARD).length

/** Returns the path with its first wildcards replaced by what they matched. */
export function bindPath(path: DocumentPath, bound: readonly (string | number)[]): DocumentPath {
  let next = 0
  return path.map(step => (step === WILDCARD ? (bound[next++] ?? WILDCARD) : step))
}

/** Formats a path as text that parsePath accepts. */
export function formatPath(path: DocumentPath): string {
  return (
    path.map((step, i) => (typeof step === 'string' ? formatKey(step, i === 0) : `[${step ?? '*'}]`)).join('') || '$'
  )
}

function formatKey(key: string, isFirst: boolean): string {
  if (!/^[\p{L}\p{N}_-]+$/u.test(key)) return `[${JSON.stringify(key)}]`
  return isFirst ? key : `.${key}`
}
