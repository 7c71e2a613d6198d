/** A key, an index, or ANY: every key or element. */
export type PathStep = string | number | typeof WILDCARD
export type DocumentPath = readonly PathStep[]

export const WILDCARD = null

const MAX_PATH_CHARACTERS = 500
const MAX_STEPS = 32
const MAX_WILDCARDS = 4

const STEP = /\[(\d{1,9})\]|\[\*\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|(\.?)([^.[\]*'"]+|\*)/y

/**
 * Reads `services.*.checks[0]["a.b"]`: keys between dots, `[n]`, `*` and `[*]`, and keys with other characters in
 * quotes; a leading `$` is the place where it begins (decisions 9.2). Else what is wrong with it.
 */
export function parsePath(text: string): DocumentPath | { problem: string } {
  if (text.length > MAX_PATH_CHARACTERS) return { problem: `must have at most ${MAX_PATH_CHARACTERS} characters` }
  const path: PathStep[] = []
  let end = text.startsWith('$') && /^[.[]?$/.test(text.slice(1, 2)) ? 1 : 0
  while (end < text.length) {
    STEP.lastIndex = end
    const found = STEP.exec(text)
    if (!found || isMisplaced(found, end)) return { problem: describeProblemAt(text, end) }
    path.push(toStep(found))
    end = STEP.lastIndex
  }
  if (text.trim() === '') return { problem: 'must name a place; $ is the whole document' }
  if (path.length > MAX_STEPS) return { problem: `must have at most ${MAX_STEPS} steps` }
  if (countWildcards(path) > MAX_WILDCARDS) return { problem: `must have at most ${MAX_WILDCARDS} wildcards` }
  return path
}

/** A dot stands before every key but the first. */
const isMisplaced = ([, , , , dot, key]: RegExpExecArray, start: number) =>
  key !== undefined && (dot === '') !== (start === 0)

function toStep([step, index, single, double, , key]: RegExpExecArray): PathStep {
  if (index !== undefined) return Number(index)
  const quoted = single ?? double
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1')
  return step === '[*]' || key === '*' ? WILDCARD : key!
}

/** The mistakes that other dialects of such paths invite, by name. */
const MISTAKES: [RegExp, string][] = [
  [/^\.\./, 'two dots search at any depth in other languages; here every step is written down'],
  [/^\[\?/, 'filters such as [?(…)] are not known here; use * and a rule'],
  [/^\[-?\d*:/, 'slices such as [0:2] are not known here; use [*]'],
  [/^\[-/, 'an index counts from 0 on'],
  [/^\.?$/, 'ends with a dot'],
  [/^\[/, 'brackets hold an index, * or a key in quotes, like [0], [*] and ["a key"]'],
  [/^\.?\*|^\.?[^.[]*\*/, 'a * stands alone between dots; a key that has one is written like ["a*b"]'],
]

function describeProblemAt(text: string, at: number): string {
  const rest = text.slice(at)
  const [, why = 'keys are separated by dots; one with other characters is written like ["a key"]'] =
    MISTAKES.find(([pattern]) => pattern.test(rest)) ?? []
  return `cannot be read at character ${at + 1}: ${why}`
}

export const countWildcards = (path: DocumentPath): number => path.filter(step => step === WILDCARD).length

/** The same path with the first wildcards replaced by what they matched. */
export function bindPath(path: DocumentPath, bound: readonly (string | number)[]): DocumentPath {
  let next = 0
  return path.map(step => (step === WILDCARD ? (bound[next++] ?? WILDCARD) : step))
}

/** The text that reads as this path. */
export function formatPath(path: DocumentPath): string {
  return (
    path.map((step, i) => (typeof step === 'string' ? formatKey(step, i === 0) : `[${step ?? '*'}]`)).join('') || '$'
  )
}

function formatKey(key: string, isFirst: boolean): string {
  if (!/^[\p{L}\p{N}_-]+$/u.test(key)) return `[${JSON.stringify(key)}]`
  return isFirst ? key : `.${key}`
}
