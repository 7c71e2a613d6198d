import { sources } from '../rules/source.ts'

type RegisteredMetric = { name: string; type: string; labels: string[] }

const CALL = /\.(counter|gauge|histogram)\(\s*'(picket_\w+)'/g

/** Every metric that a program registers, by name. Read from the source, because no process has all of them. */
export function registeredMetrics(program: 'control-plane' | 'probe-agent'): RegisteredMetric[] {
  return sources(program)
    .flatMap(({ code }) => [...code.matchAll(CALL)].map(match => toMetric(match, code)))
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** After the help text only labels are strings; buckets are numbers. */
function toMetric(match: RegExpMatchArray, code: string): RegisteredMetric {
  const [start, type = '', name = ''] = match
  const rest = code.slice(match.index! + start.length)
  const [_help, ...labels] = [...cutArguments(rest).matchAll(/'([^']*)'/g)].map(text => text[1] ?? '')
  return { name, type, labels }
}

/** The text up to the bracket that closes the call. */
function cutArguments(text: string): string {
  let depth = 1
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "'") isText = !isText
    if (isText) continue
    if (sign === '(') depth++
    if (sign === ')') depth--
    if (depth === 0) return text.slice(0, at)
  }
  return text
}
