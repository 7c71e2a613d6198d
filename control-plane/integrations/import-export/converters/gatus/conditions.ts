import { findRegexProblem } from '../../../../../shared/assertions/regex.ts'
import type { MonitorType } from '../../../../../shared/checks/check.ts'
import { parseDurationMs } from './duration.ts'

type Assertion = { type: string; operator: string; value: string }

/**
 * A converted condition. `note`: a difference, or why it could not be converted. `isOpposite`: it holds for checks that fail
 * in Picket.
 */
type Condition = { assertions: Assertion[]; note?: string; domainCheck?: true; isOpposite?: true }

const COMPARISON = /^(.+?) (==|!=|<=|>=|<|>) (.+)$/s
const OPERATORS: Record<string, string> = { '==': 'equals', '!=': 'not_equals', '<': 'less_than', '>': 'greater_than' }
/** The operators after swapping both sides. */
const MIRRORED: Record<string, string> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }

/** Converts a condition such as `[STATUS] == 200` for a monitor of a type. */
export function parseCondition(text: string, type: MonitorType): Condition {
  const [, left = '', sign = '', right = ''] = COMPARISON.exec(text.trim()) ?? []
  if (sign === '') return unsupported('not a comparison')
  const isSwapped = !isPlaceholder(left) && isPlaceholder(right)
  const subject = (isSwapped ? right : left).trim()
  const value = (isSwapped ? left : right).trim()
  return convertCondition(subject, isSwapped ? (MIRRORED[sign] ?? sign) : sign, value, type)
}

const isPlaceholder = (text: string) => /^(len\(|has\()?\[[A-Z_]+\]/i.test(text.trim())

function convertCondition(subject: string, sign: string, value: string, type: MonitorType): Condition {
  const name = /^\[([A-Z_]+)\]$/i.exec(subject)?.[1]?.toUpperCase()
  if (name === 'STATUS') return statusCode(sign, value)
  if (name === 'RESPONSE_TIME') return responseTime(sign, value)
  if (name === 'CERTIFICATE_EXPIRATION') return certificate(sign, value)
  if (name === 'DOMAIN_EXPIRATION') {
    return {
      assertions: [],
      domainCheck: true,
      note: 'warnings are sent 30, 14, 7, 3 and 1 days before the registration expires',
    }
  }
  if (name === 'CONNECTED' || name === 'DNS_RCODE') return implied(name, sign, value)
  if (name === 'BODY' && type === 'dns') return textual('dns_record', '', sign, value)
  if (name === 'BODY') return bodyText(sign, value)
  const has = /^has\(\[BODY\]\.?(.+)\)$/i.exec(subject)?.[1]
  if (has !== undefined) return existence(has, sign, value)
  const path = /^\[BODY\]\.?(.+)$/i.exec(subject)?.[1]
  if (path !== undefined) return jsonPath(path, sign, value)
  return unsupported(`Picket has no assertion for ${subject}`)
}

const unsupported = (note: string): Condition => ({ assertions: [], note })
const single = (type: string, operator: string, value: string, note?: string): Condition => ({
  assertions: [{ type, operator, value }],
  ...(note !== undefined && { note }),
})

/** Converts a comparison of the status, where `<= 299` is `< 300`. */
function statusCode(sign: string, value: string): Condition {
  if (/^(any|pat)\(.*\)$/.test(value)) return textual('status_code', '', sign, value)
  if (!/^-?\d+$/.test(value)) return unsupported(`${value} is not a whole number`)
  if (sign === '<=') return single('status_code', 'less_than', String(Number(value) + 1))
  if (sign === '>=') return single('status_code', 'greater_than', String(Number(value) - 1))
  return single('status_code', OPERATORS[sign]!, value)
}

function responseTime(sign: string, value: string): Condition {
  const ms = /^\d+$/.test(value) ? Number(value) : parseDurationMs(value)
  const note = 'a slow response makes the monitor degraded, not down'
  if (ms === null || !/^[<>]=?$/.test(sign)) return unsupported('a time must be compared with < or >')
  return single('response_time', sign.startsWith('<') ? 'less_than' : 'greater_than', String(ms), note)
}

/** `> 48h` becomes at least two whole days. */
function certificate(sign: string, value: string): Condition {
  const ms = parseDurationMs(value)
  if (ms === null || !sign.startsWith('>'))
    return unsupported('the remaining time of a certificate must be compared with >')
  const days = ms / 86_400_000
  const note = Number.isInteger(days)
    ? undefined
    : `the remaining time of a certificate is rounded up to ${Math.ceil(days)} days`
  return single('certificate_days', 'greater_than', String(Math.ceil(days) - 1), note)
}

/** Conditions that hold for every successful check. */
function implied(name: string, sign: string, value: string): Condition {
  const isUsual =
    name === 'CONNECTED' ? value === (sign === '==' ? 'true' : 'false') : sign === '==' && value === 'NOERROR'
  if (isUsual && /^[!=]=$/.test(sign)) return { assertions: [] }
  return { ...unsupported(`[${name}] can only be compared with its value of a successful check`), isOpposite: true }
}

function existence(path: string, sign: string, value: string): Condition {
  const at = toPath(path)
  if (at === null || !/^(==|!=)$/.test(sign)) return unsupported('only plain paths are supported')
  if ((value === 'true') !== (sign === '=='))
    return single('json_path', 'not_exists', at, 'a value of null counts as present, so it makes the check fail')
  const notNull = { type: 'json_path', operator: 'not_equals', value: `${at}: null` }
  return { assertions: [{ type: 'json_path', operator: 'exists', value: at }, notNull] }
}

function jsonPath(path: string, sign: string, value: string): Condition {
  const at = toPath(path)
  if (at === null) return unsupported('only plain paths are supported')
  if (/^[<>]=$/.test(sign)) return unsupported(`${sign} is not supported; use < or >`)
  const condition = textual('json_path', `${at}: `, sign, value)
  if (sign !== '<' || condition.assertions.length === 0) return condition
  return { ...condition, note: 'a missing field makes the check fail; Gatus reads it as 0' }
}

/** Converts `data[0].name` to `$.data[0].name`. */
function toPath(path: string): string | null {
  const at = `$${path.startsWith('[') ? '' : '.'}${path}`
  return /^\$(\.[A-Za-z_][\w-]*|\[\d+\])+$/.test(at) ? at : null
}

function textual(type: string, prefix: string, sign: string, value: string): Condition {
  const pattern = /^pat\((.*)\)$/s.exec(value)?.[1]
  const isPattern = value.startsWith('any(') || pattern !== undefined
  if (isPattern && !/^(==|!=)$/.test(sign)) return unsupported(`${value} must be compared with == or !=`)
  const not = sign === '!=' ? 'not_' : ''
  if (pattern !== undefined && /[?[\\]/.test(pattern)) return unsupported('of the patterns, only * is supported')
  if (pattern !== undefined) return single(type, `${not}matches`, `${prefix}^${toExpression(pattern)}$`)
  if (value.startsWith('any(')) return single(type, `${not}matches`, `${prefix}^(${parseOptions(value).join('|')})$`)
  if (OPERATORS[sign] === undefined) return unsupported(`${sign} is not supported`)
  if (type !== 'json_path' && /^[<>]$/.test(sign)) return unsupported('a text must be compared with == or !=')
  return single(type, OPERATORS[sign]!, `${prefix}${value}`)
}

/** Gatus compares a body without the white space around it. */
function bodyText(sign: string, value: string): Condition {
  const condition = textual('body', '', sign, value)
  const [compared] = condition.assertions
  if (!compared) return condition
  const isText = compared.operator === 'equals' || compared.operator === 'not_equals'
  const inner = isText ? escaped(compared.value) : compared.value.slice('^'.length, -'$'.length)
  const expression = `^\\s*(?:${inner})\\s*$`
  const problem = findRegexProblem(expression)
  return problem === null ? single('body', sign === '!=' ? 'not_matches' : 'matches', expression) : unsupported(problem)
}

const parseOptions = (value: string) =>
  value
    .slice('any('.length, -1)
    .split(',')
    .map(option => escaped(option.trim()))

/** Converts a pattern in which `*` matches anything. */
const toExpression = (pattern: string) => `(?s:${pattern.split('*').map(escaped).join('.*')})`

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
