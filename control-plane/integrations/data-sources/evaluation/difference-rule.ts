import { getValueAt, type PathMatch } from '../document/matches.ts'
import { bindPath, countWildcards, type DocumentPath, formatPath, parsePath } from '../document/path.ts'
import { quoteValue } from '../document/text.ts'
import { type Comparable, computeDistance, parseComparable } from './comparable.ts'
import type { CompiledRule, CompileRule, ConfigProblem, RuleContext, RuleFinding } from './rule.ts'

/**
 * The rule `diff_lte`: how far a value and another one, or the present, are apart. Numbers as they are, times in seconds
 * (decisions 9.3). Wildcards of `other_path` stand for what those of the field's path matched, in their order.
 */
export function compileDifferenceRule(config: Record<string, unknown>, path: DocumentPath): ReturnType<CompileRule> {
  const { other_path: text, max } = config
  const other = text === 'now' ? 'now' : parseOtherPath(text, path)
  const problems = findMaxProblems(max)
  if (typeof other === 'object' && 'problem' in other) problems.unshift({ key: 'other_path', message: other.problem })
  else if (problems.length === 0) return createDifferenceRule(other, max as number)
  return { problems }
}

function parseOtherPath(text: unknown, path: DocumentPath): DocumentPath | { problem: string } {
  if (text === undefined) return { problem: 'is required for the rule diff_lte; it may be "now"' }
  if (typeof text !== 'string') return { problem: 'must be a string' }
  const other = parsePath(text)
  if ('problem' in other || countWildcards(other) <= countWildcards(path)) return other
  return { problem: 'must not have more wildcards than path: each stands for what that one of path matched' }
}

function findMaxProblems(max: unknown): ConfigProblem[] {
  const message = max === undefined ? 'is required for the rule diff_lte' : 'must be a number of at least 0'
  return typeof max === 'number' && max >= 0 ? [] : [{ key: 'max', message }]
}

const createDifferenceRule =
  (other: DocumentPath | 'now', max: number): CompiledRule =>
  (match, scene) => {
    const { value, name } = resolveOther(other, match, scene)
    if (value === undefined) return { holds: null, message: `cannot be compared: there is no ${name}` }
    const [own, its] = [parseComparable(match.value), parseComparable(value)]
    if (own === null)
      return { holds: false, message: `is ${quoteValue(match.value)}, which is neither a number nor a time` }
    if (its === null) return { holds: null, message: `cannot be compared: ${name} is ${quoteValue(value)}` }
    return compare(match, own, its, name, max)
  }

function resolveOther(other: DocumentPath | 'now', { bound }: PathMatch, { root, now }: RuleContext) {
  if (other === 'now') return { value: now.toISOString(), name: 'now' }
  const place = bindPath(other, bound)
  return { value: getValueAt(root, place), name: formatPath(place) }
}

function compare({ value }: PathMatch, own: Comparable, its: Comparable, name: string, max: number): RuleFinding {
  const { amount, isTime } = computeDistance(own, its)
  const unit = isTime ? ' s' : ''
  const said = `is ${quoteValue(value)}, ${amount}${unit} away from ${name}`
  return amount <= max
    ? { holds: true, message: said }
    : { holds: false, message: `${said}, at most ${max}${unit} allowed` }
}
