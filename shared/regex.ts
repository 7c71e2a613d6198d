import { RE2JS } from 're2js'

/** A customer's regular expression, matched in time linear to the text (RE2): no expression can hold a probe. */
export type Regex = {
  test: (text: string) => boolean
  /** instructions; a test takes at worst some 40 ns for each of them and each character */
  size: number
}

const PATTERN_LIMIT = 1000
const PROGRAM_LIMIT = 2000

/** Why this expression cannot be used, or null. */
export function regexProblem(pattern: string): string | null {
  try {
    compileRegex(pattern)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** @throws Error with a sentence for the customer when RE2 does not know the expression or it is too large */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > PATTERN_LIMIT) throw new Error(`the expression is longer than ${PATTERN_LIMIT} characters`)
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  if (size > PROGRAM_LIMIT) throw new Error('the expression is too large; use smaller repetitions')
  return { test: text => compiled.test(text), size }
}
