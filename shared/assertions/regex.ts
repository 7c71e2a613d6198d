import { RE2JS } from 're2js'
import { estimateSize } from './regex-size.ts'

/** A customer's regular expression, matched in time linear to the text (RE2): no expression can hold a probe. */
export type Regex = {
  test: (text: string) => boolean
  /** instructions; a test takes at worst some 40 ns for each of them and each character */
  size: number
}

const MAX_PATTERN_LENGTH = 1000
const MAX_PROGRAM_SIZE = 2000
const TOO_LARGE = 'the expression is too large; use smaller repetitions'

/**
 * Why this expression cannot be used, or null. It takes a few milliseconds at worst: what takes longer to compile is
 * refused by its text. Probes do not ask this, so an expression that was stored before goes on.
 */
export function findRegexProblem(pattern: string): string | null {
  // a common beginning is one in the program, so that can be smaller than its text says
  if (pattern.length <= MAX_PATTERN_LENGTH && estimateSize(pattern, 2 * MAX_PROGRAM_SIZE) > 2 * MAX_PROGRAM_SIZE)
    return TOO_LARGE
  try {
    compileRegex(pattern)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** @throws Error with a sentence for the customer when RE2 does not know the expression or it is too large */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new Error(`the expression is longer than ${MAX_PATTERN_LENGTH} characters`)
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  if (size > MAX_PROGRAM_SIZE) throw new Error(TOO_LARGE)
  return { test: text => compiled.test(text), size }
}
