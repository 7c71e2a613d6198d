import { getValueAt, type PathMatch } from '../document/matches.ts'
import { bindPath, countWildcards, type DocumentPath, formatPath, parsePath } from '../document/path.ts'
import { quoteValue } from '../document/text.ts'
import type { FieldDefinition } from '../types.ts'
import { type Comparable, computeDistance, parseComparable } from './comparable.ts'
import type { CompiledRule, CompileRule, ConfigProblem, RuleContext, RuleFinding } from './rule.ts'

/**
 * Compiles the rule `diff_lte`, which compares the difference between a value and another value, or the present.
 * Differences of times are in seconds. Wildcards of `other_path` are replaced by what those of the field's path matched.
 */
export function compileDifferenceRule(config: Record<string, unknown>, path: DocumentPath): ReturnType<CompileRule> {
  const { other_path: text, max } = config
  const other = text === 'now' ? 'now' : parseOtherPath(text, path)
  const problems = findMaxProblems(max)
  if (typeof other === 'object' && 'problem' in other) problems.unshift({ key: 'other_path', message: other.problem })
  else if (problems.length === 0) return createDifferenceRule(other, max as number)
  return { problems }
}

/** Whether the result of a field depends on when the document arrived. */
export const comparesWithNow = ({ ruleType, ruleConfig, degradedRuleConfig }: FieldDefinition): boolean =>
  ruleType === 'diff_lte' && [ruleConfig, degradedRuleConfig].some(config => config?.other_path === 'now')

function parseOtherPath(text: unknown, path: DocumentPath): DocumentPath | { problem: string } {
  if (text === undefined) return { problem: 'is required for the rule diff_lte; it may be "now"' }
  if (typeof text !== 'string') return { problem: 'must be a string' }
  const other = parsePath(text)
  if ('problem' in other || countWildcards(other) <= countWildcards(path)) return other
  return {
    problem: 'must not have more wildcards than path, because each is replaced by what the wildcard of path matched',
  }
}

function findMaxProblems(max: unknown): ConfigProblem[] {
  const message = max === undefined ? 'is required for the rule diff_lte' : 'must be a number of at least 0'
  return typeof max === 'number' && max >= 0 ? [] : [{ key: 'max', message }]
}

const createDifferenceRule =
  (other: DocumentPath | 'now', max: number): CompiledRule =>
  (match, context) => {
    const { value, name } = resolveOther(other, match, context)
    if (value === undefined) return { holds: null, message: `cannot be compared: ${name} does not exist` }
    const [own, reference] = [parseComparable(match.value), parseComparable(value)]
    if (own === null)
      return { holds: false, message: `is ${quoteValue(match.value)}, which is neither a number nor a time` }
    if (reference === null) return { holds: null, message: `cannot be compared: ${name} is ${quoteValue(value)}` }
    return compare(match, own, reference, name, max)
  }

function resolveOther(other: DocumentPath | 'now', { bound }: PathMatch, { root, now }: RuleContext) {
  if (other === 'now') return { value: now.toISOString(), name: 'now' }
  const path = bindPath(other, bound)
  return { value: getValueAt(root, path), name: formatPath(path) }
}

function compare({ value }: PathMatch, own: Comparable, reference: Comparable, name: string, max: number): RuleFinding {
  const { amount, isTime } = computeDistance(own, reference)
  const unit = isTime ? ' s' : ''
  const message = `is ${quoteValue(value)}, ${amount}${unit} away from ${name}`
  return amount <= max
    ? { holds: true, message }
    : { holds: false, message: `${message}, at most ${max}${unit} allowed` }
}
