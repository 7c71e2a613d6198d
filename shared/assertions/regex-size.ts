/**
 * Estimates from its text how many instructions RE2 compiles an expression to, because compiling a large expression takes
 * seconds even if it is rejected afterwards. Parts that are expensive to compile count as several instructions. The estimate
 * is rather too high than too low, and stops at `most`.
 */
export function estimateSize(pattern: string, most: number): number {
  const folds = /\(\?[a-zA-Z]*i/.test(pattern)
  const groups: Group[] = [{ size: 0, last: 0, ends: 0 }]
  // cost of character classes, which repetitions do not multiply
  let once = 0
  let at = 0
  while (at < pattern.length) {
    const group = groups.at(-1)!
    if (group.size + once > most) return group.size + once
    const char = pattern[at]!
    if (char === '(') {
      const opening = OPENING.exec(pattern.slice(at))![0]
      at += opening.length
      // (?i) changes flags and does not open a group
      if (!opening.endsWith(')')) groups.push({ size: 0, last: 0, ends: opening.endsWith(':') ? 0 : CAPTURE })
      continue
    }
    if (char === ')') {
      at++
      if (groups.length > 1) {
        const { size, ends } = groups.pop()!
        add(groups.at(-1)!, size + ends)
      }
      continue
    }
    const repeat = char === '{' ? REPEAT.exec(pattern.slice(at)) : null
    if (repeat) {
      at += repeat[0].length
      multiply(group, Math.max(1, ...repeat.slice(1).map(times => Number(times ?? 0))))
      continue
    }
    const unit = unitAt(pattern, at, folds)
    at = unit.end
    once += unit.once
    if (isSuffix(char)) group.size++
    else add(group, unit.size)
  }
  return groups.reduce((sum, { size }) => sum + size, once)
}

/** `last`: size of the unit that a following repetition repeats; `ends`: size added by the ends of the group */
type Group = { size: number; last: number; ends: number }
type Unit = { size: number; once: number; end: number }

const CAPTURE = 2
/** A Unicode class has hundreds of ranges. */
const UNICODE_CLASS = 100
/** Case-insensitive matching looks up each character of a range. */
const FOLDED_AT_ONCE = 50

const OPENING = /^\((\?(P?<[^>]*>|[a-zA-Z-]*[:)]))?/
const REPEAT = /^\{(\d+)(?:,(\d*))?\}/
/** An escape as one character: \x{41}, \x41, \101, \n, \. */
const ESCAPE = /^\\(x\{[^}]*\}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)/s
const UNICODE = /^\\[pP](\{[^}]*\}|.)/s
const LITERAL = /^\\Q(.*?)(\\E|$)/s
const NAMED = /^\[:[^\]]*:\]/

const isSuffix = (char: string) => char === '*' || char === '+' || char === '?' || char === '|'

function add(group: Group, size: number): void {
  group.size += size
  group.last = size
}

function multiply(group: Group, times: number): void {
  const more = group.last * (times - 1)
  group.size += more
  group.last += more
}

/** The unit that a repetition applies to: a character, an escape or a class. */
function unitAt(pattern: string, at: number, folds: boolean): Unit {
  if (pattern[at] === '[') return classAt(pattern, at, folds)
  if (pattern[at] !== '\\') return { size: 1, once: 0, end: at + 1 }
  const rest = pattern.slice(at)
  const literal = LITERAL.exec(rest)
  if (literal) return { size: literal[1]!.length, once: 0, end: at + literal[0].length }
  const unicode = UNICODE.exec(rest)
  if (unicode) return { size: 1, once: UNICODE_CLASS, end: at + unicode[0].length }
  return { size: 1, once: 0, end: at + (ESCAPE.exec(rest)?.[0].length ?? 1) }
}

function classAt(pattern: string, from: number, folds: boolean): Unit {
  let once = 0
  let at = from + 1
  if (pattern[at] === '^') at++
  // a closing bracket in the first position is a literal
  for (let isFirst = true; at < pattern.length && (isFirst || pattern[at] !== ']'); isFirst = false) {
    const rest = pattern.slice(at)
    const several = UNICODE.exec(rest) ?? NAMED.exec(rest)
    if (several) {
      if (several[0].startsWith('\\')) once += UNICODE_CLASS
      at += several[0].length
      continue
    }
    const first = characterAt(pattern, at)
    at = first.end
    if (pattern[at] !== '-' || pattern[at + 1] === ']') continue
    const last = characterAt(pattern, at + 1)
    at = last.end
    if (folds) once += Math.max(0, last.code - first.code) / FOLDED_AT_ONCE
  }
  return { size: 1, once, end: at + 1 }
}

function characterAt(pattern: string, at: number): { code: number; end: number } {
  const escaped = ESCAPE.exec(pattern.slice(at, at + 20))?.[0]
  if (escaped) return { code: toCodePoint(escaped.slice(1)), end: at + escaped.length }
  const code = pattern.codePointAt(at) ?? 0
  return { code, end: at + (code > 0xffff ? 2 : 1) }
}

/** The code point of an escape, without its backslash. */
function toCodePoint(text: string): number {
  if (text.startsWith('x')) return Number.parseInt(text.replace(/[^0-9a-fA-F]/g, ''), 16) || 0
  return /^[0-7]/.test(text) ? Number.parseInt(text, 8) : text.codePointAt(0)!
}
