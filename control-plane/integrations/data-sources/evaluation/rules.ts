import { quoteValue, toLine } from '../document/text.ts'
import type { RuleType } from '../types.ts'
import { compileEquality } from './comparable.ts'
import { compileDifferenceRule } from './difference-rule.ts'
import type { CompiledRule, CompileRule, RuleContext, RuleFinding } from './rule.ts'

/** The rules (docs/design/data-sources.md#rules). A new rule is a row here. */
export const RULES: Record<RuleType, CompileRule> = {
  equals: compileEquals,
  in: compileIn,
  diff_lte: compileDifferenceRule,
  truthy: () => evaluateTruthy,
  http_ok: () => evaluateHttpOk,
}

const MAX_VALUES = 1_000
const MAX_CONFIG_CHARACTERS = 10_000
const MAX_SHOWN_VALUES = 5

const buildProblem = (key: string, message: string) => ({ problems: [{ key, message }] })
const isTooLong = (value: unknown) => JSON.stringify(value).length > MAX_CONFIG_CHARACTERS

function compileEquals(config: Record<string, unknown>): ReturnType<CompileRule> {
  if (!Object.hasOwn(config, 'value')) return buildProblem('value', 'is required for the rule equals')
  const { value } = config
  if (isTooLong(value)) return buildProblem('value', `must have at most ${MAX_CONFIG_CHARACTERS} characters`)
  const isExpected = compileEquality([value])
  const expected = `, expected ${quoteValue(value)}`
  return match => {
    const holds = isExpected(match.value)
    return { holds, message: `is ${quoteValue(match.value)}${holds ? '' : expected}` }
  }
}

function compileIn({ values }: Record<string, unknown>): ReturnType<CompileRule> {
  if (values === undefined) return buildProblem('values', 'is required for the rule in')
  if (!Array.isArray(values) || values.length === 0)
    return buildProblem('values', 'must be an array of at least 1 item')
  if (values.length > MAX_VALUES) return buildProblem('values', `must have at most ${MAX_VALUES} items`)
  if (isTooLong(values)) return buildProblem('values', `must have at most ${MAX_CONFIG_CHARACTERS} characters`)
  const more = values.length > MAX_SHOWN_VALUES ? ` and ${values.length - MAX_SHOWN_VALUES} more` : ''
  const expected = `, expected one of ${values.slice(0, MAX_SHOWN_VALUES).map(quoteValue).join(', ')}${more}`
  const isExpected = compileEquality(values)
  return match => {
    const holds = isExpected(match.value)
    return { holds, message: `is ${quoteValue(match.value)}${holds ? '' : expected}` }
  }
}

/** Follows JavaScript: false, 0, null and the empty text are not truthy. */
function evaluateTruthy({ value }: { value: unknown }): RuleFinding {
  const holds = Boolean(value)
  return { holds, message: `is ${quoteValue(value)}${holds ? '' : ', expected anything but false, 0, null and ""'}` }
}

/** Whether a status code is successful. Redirects are. */
export const isOkStatus = (status: number) => status >= 200 && status <= 399

const isOkCode = (text: string) => /^\d{3}$/.test(text) && isOkStatus(Number(text))

/** Returns the URL that the rule http_ok requests for a value; null when the value is not a URL. */
export const parseUrl = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 2_048 && isAddress(value) ? value : null

const isAddress = (text: string) => /^https?:\/\/[^/\\\s]/i.test(text) && URL.canParse(text)

const evaluateHttpOk: CompiledRule = ({ value }, { urlChecks }: RuleContext) => {
  const url = parseUrl(value)
  if (url !== null) {
    const { isOk, message } = urlChecks.get(url) ?? { isOk: null, message: 'was not requested' }
    return { holds: isOk, message: `is ${toLine(url, 200)}, which ${message}` }
  }
  const holds = (typeof value === 'number' || typeof value === 'string') && isOkCode(`${value}`)
  return {
    holds,
    message: `is ${quoteValue(value)}${holds ? '' : ', expected a status code from 200 to 399 or a URL'}`,
  }
}
