import { type Comparable, comparableOf, distanceOf } from './comparable.ts'
import { type Match, valueAt } from './matches.ts'
import { bindPath, formatPath, type Path, parsePath, wildcardsOf } from './path.ts'
import type { ConfigProblem, Finding, Judge, ReadRule, Scene } from './rule.ts'
import { shown } from './text.ts'

/**
 * The rule `diff_lte`: how far a value and another one, or the present, are apart. Numbers as they are, times in seconds
 * (decisions 9.3). Wildcards of `other_path` stand for what those of the field's path matched, in their order.
 */
export function readDifference(config: Record<string, unknown>, path: Path): ReturnType<ReadRule> {
  const { other_path: text, max } = config
  const other = text === 'now' ? 'now' : readOther(text, path)
  const problems = maxProblems(max)
  if (typeof other === 'object' && 'problem' in other) problems.unshift({ key: 'other_path', message: other.problem })
  else if (problems.length === 0) return judgeWith(other, max as number)
  return { problems }
}

function readOther(text: unknown, path: Path): Path | { problem: string } {
  if (text === undefined) return { problem: 'is required for the rule diff_lte; it may be "now"' }
  if (typeof text !== 'string') return { problem: 'must be a string' }
  const other = parsePath(text)
  if ('problem' in other || wildcardsOf(other) <= wildcardsOf(path)) return other
  return { problem: 'must not have more wildcards than path: each stands for what that one of path matched' }
}

function maxProblems(max: unknown): ConfigProblem[] {
  const message = max === undefined ? 'is required for the rule diff_lte' : 'must be a number of at least 0'
  return typeof max === 'number' && max >= 0 ? [] : [{ key: 'max', message }]
}

const judgeWith =
  (other: Path | 'now', max: number): Judge =>
  (match, scene) => {
    const { value, name } = otherSide(other, match, scene)
    if (value === undefined) return { holds: null, said: `cannot be compared: there is no ${name}` }
    const [own, its] = [comparableOf(match.value), comparableOf(value)]
    if (own === null) return { holds: false, said: `is ${shown(match.value)}, which is neither a number nor a time` }
    if (its === null) return { holds: null, said: `cannot be compared: ${name} is ${shown(value)}` }
    return compare(match, own, its, name, max)
  }

function otherSide(other: Path | 'now', { bound }: Match, { root, now }: Scene) {
  if (other === 'now') return { value: now.toISOString(), name: 'now' }
  const place = bindPath(other, bound)
  return { value: valueAt(root, place), name: formatPath(place) }
}

function compare({ value }: Match, own: Comparable, its: Comparable, name: string, max: number): Finding {
  const { amount, isTime } = distanceOf(own, its)
  const unit = isTime ? ' s' : ''
  const said = `is ${shown(value)}, ${amount}${unit} away from ${name}`
  return amount <= max ? { holds: true, said } : { holds: false, said: `${said}, at most ${max}${unit} allowed` }
}
