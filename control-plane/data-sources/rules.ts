import { isDeepStrictEqual } from 'node:util'
import { readDifference } from './difference.ts'
import type { Finding, Judge, ReadRule, Scene } from './rule.ts'
import { lineOf, shown } from './text.ts'
import type { RuleType } from './types.ts'

/** The rules of the specification ("Data source field"; decisions 9.3). A new one is a row here. */
export const RULES: Record<RuleType, ReadRule> = {
  equals: readEquals,
  in: readIn,
  diff_lte: readDifference,
  truthy: () => judgeTruth,
  http_ok: () => judgeHttp,
}

const MOST_VALUES = 1_000
const MOST_CHARACTERS = 10_000
const SHOWN_VALUES = 5

const problem = (key: string, message: string) => ({ problems: [{ key, message }] })
const isTooLong = (value: unknown) => JSON.stringify(value).length > MOST_CHARACTERS
const isSame = (a: unknown, b: unknown) => a === b || (typeof b === 'object' && b !== null && isDeepStrictEqual(a, b))

function readEquals(config: Record<string, unknown>): ReturnType<ReadRule> {
  if (!Object.hasOwn(config, 'value')) return problem('value', 'is required for the rule equals')
  const { value } = config
  if (isTooLong(value)) return problem('value', `must have at most ${MOST_CHARACTERS} characters`)
  return match => {
    const holds = isSame(match.value, value)
    return { holds, said: `is ${shown(match.value)}${holds ? '' : `, expected ${shown(value)}`}` }
  }
}

function readIn({ values }: Record<string, unknown>): ReturnType<ReadRule> {
  if (values === undefined) return problem('values', 'is required for the rule in')
  if (!Array.isArray(values) || values.length === 0) return problem('values', 'must be an array of at least 1 item')
  if (values.length > MOST_VALUES) return problem('values', `must have at most ${MOST_VALUES} items`)
  if (isTooLong(values)) return problem('values', `must have at most ${MOST_CHARACTERS} characters`)
  const more = values.length > SHOWN_VALUES ? ` and ${values.length - SHOWN_VALUES} more` : ''
  const expected = `, expected one of ${values.slice(0, SHOWN_VALUES).map(shown).join(', ')}${more}`
  return match => {
    const holds = values.some(value => isSame(match.value, value))
    return { holds, said: `is ${shown(match.value)}${holds ? '' : expected}` }
  }
}

/** As JavaScript sees it: false, 0, null and the empty text are not. */
function judgeTruth({ value }: { value: unknown }): Finding {
  const holds = Boolean(value)
  return { holds, said: `is ${shown(value)}${holds ? '' : ', expected anything but false, 0, null and ""'}` }
}

/** The status codes that are well: redirects are, they lead on (decisions 9.3). */
export const isOkStatus = (status: number) => status >= 200 && status <= 399

const isOkCode = (text: string) => /^\d{3}$/.test(text) && isOkStatus(Number(text))

/** The address that a value is for the rule http_ok; null when it is none. */
export const urlOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 2_048 && isAddress(value) ? value : null

const isAddress = (text: string) => /^https?:\/\/[^/\\\s]/i.test(text) && URL.canParse(text)

const judgeHttp: Judge = ({ value }, { answers }: Scene) => {
  const url = urlOf(value)
  if (url !== null) {
    const { isOk, said } = answers.get(url) ?? { isOk: null, said: 'was not asked' }
    return { holds: isOk, said: `is ${lineOf(url, 200)}, which ${said}` }
  }
  const holds = (typeof value === 'number' || typeof value === 'string') && isOkCode(`${value}`)
  return { holds, said: `is ${shown(value)}${holds ? '' : ', expected a status code from 200 to 399 or a URL'}` }
}
