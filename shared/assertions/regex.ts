import { RE2JS } from 're2js'
import { estimateSize } from './regex-size.ts'

/** A user's regular expression, matched in linear time (RE2), so that no expression can block a probe. */
type Regex = {
  test: (text: string) => boolean
  /** number of instructions; a test takes at most about 40 ns per instruction and character */
  size: number
}

const MAX_PATTERN_LENGTH = 1000
const MAX_PROGRAM_SIZE = 2000
const TOO_LARGE = 'the expression is too large; use smaller repetitions'

/**
 * The reason why this expression is invalid, or null. Takes a few milliseconds at most: an expression that takes longer to
 * compile is rejected by its text. Probes do not call this, so stored expressions remain valid.
 */
export function findRegexProblem(pattern: string): string | null {
  // common prefixes are merged, so the program can be smaller than the estimate
  if (pattern.length <= MAX_PATTERN_LENGTH && estimateSize(pattern, 2 * MAX_PROGRAM_SIZE) > 2 * MAX_PROGRAM_SIZE)
    return TOO_LARGE
  try {
    compileRegex(pattern)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** @throws Error with a message for the user when RE2 does not support the expression or it is too large */
export function compileRegex(pattern: string): Regex {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new Error(`the expression is longer than ${MAX_PATTERN_LENGTH} characters`)
  const compiled = RE2JS.compile(pattern)
  const size = compiled.programSize()
  if (size > MAX_PROGRAM_SIZE) throw new Error(TOO_LARGE)
  return { test: text => compiled.test(text), size }
}
