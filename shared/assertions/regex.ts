import { RE2JS } from 're2js'
import { createLruCache } from '../lru-cache.ts'
import { estimateSize } from './regex-size.ts'

const MAX_PATTERN_LENGTH = 1000
const MAX_PROGRAM_SIZE = 2000
/** Units of work (see `estimateWork`) for each instruction: the slowest expressions take 8 µs to compile and to match a first text. */
const COMPILE_WORK = 200
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

/**
 * A user's regular expression, matched in linear time (RE2), so that no expression can block a probe. It is compiled when it is
 * used first, and again when it was not used for long.
 * @throws Error with a message for the user when it is too long; its functions also when RE2 does not support it or it is too large
 */
export function createRegex(pattern: string) {
  assertLength(pattern)
  const estimate = estimateSize(pattern, 2 * MAX_PROGRAM_SIZE)
  let size: number | null = null
  const compile = (): void => {
    size ??= compileRegex(pattern)
  }
  return {
    test(text: string): boolean {
      compile()
      return getCompiled(pattern).test(text)
    },
    compile,
    wasCompiled: () => size !== null,
    /** Number of instructions, estimated before it is compiled. A test takes at most about 40 ns per instruction and character. */
    getSize: () => size ?? estimate,
    /** The work of compiling it now, 0 when it is kept. */
    getCompileWork: () => (compiledBy.get(pattern) ? 0 : COMPILE_WORK * estimate),
  }
}

/** Returns the number of instructions. */
function compileRegex(pattern: string): number {
  assertLength(pattern)
  const size = getCompiled(pattern).programSize()
  if (size <= MAX_PROGRAM_SIZE) return size
  compiledBy.delete(pattern)
  throw new Error(TOO_LARGE)
}

function assertLength(pattern: string): void {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw new Error(`the expression is longer than ${MAX_PATTERN_LENGTH} characters`)
}

/** An expression remembers the states in which it was while it read texts, by default in up to 8 MiB. */
const MAX_STATE_BYTES = 2 ** 18
/** The others are compiled again when they are used. With their states, the kept ones need at most 50 MiB. */
const MAX_KEPT = 200

const compiledBy = createLruCache<RE2JS>(MAX_KEPT)

function getCompiled(pattern: string): RE2JS {
  const known = compiledBy.get(pattern)
  if (known) return known
  const compiled = RE2JS.compile(pattern)
  Object.assign(compiled.re2().dfa, { stateBudget: MAX_STATE_BYTES, memBudget: MAX_STATE_BYTES })
  compiledBy.set(pattern, compiled)
  return compiled
}
