import type { MonitorType } from '../../../../../shared/checks/check.ts'
import { parseDurationMs } from './duration.ts'

type Assertion = { type: string; operator: string; value: string }

/** What a condition becomes. `note`: in what it differs, or why there is nothing. */
export type Condition = { assertions: Assertion[]; note?: string; domainCheck?: true }

const COMPARISON = /^(.+?) (==|!=|<=|>=|<|>) (.+)$/s
const OPERATORS: Record<string, string> = { '==': 'equals', '!=': 'not_equals', '<': 'less_than', '>': 'greater_than' }
/** The same with the literal on the left. */
const MIRRORED: Record<string, string> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }

/** `[STATUS] == 200` and its kin, for a monitor of a type. */
export function parseCondition(text: string, type: MonitorType): Condition {
  const [, left = '', sign = '', right = ''] = COMPARISON.exec(text.trim()) ?? []
  if (sign === '') return nothing('it is no comparison')
  const isTurned = !isPlaceholder(left) && isPlaceholder(right)
  const subject = (isTurned ? right : left).trim()
  const value = (isTurned ? left : right).trim()
  return convertCondition(subject, isTurned ? (MIRRORED[sign] ?? sign) : sign, value, type)
}

const isPlaceholder = (text: string) => /^(len\(|has\()?\[[A-Z_]+\]/i.test(text.trim())

function convertCondition(subject: string, sign: string, value: string, type: MonitorType): Condition {
  const name = /^\[([A-Z_]+)\]$/i.exec(subject)?.[1]?.toUpperCase()
  if (name === 'STATUS') return numeric('status_code', sign, value)
  if (name === 'RESPONSE_TIME') return responseTime(sign, value)
  if (name === 'CERTIFICATE_EXPIRATION') return certificate(sign, value)
  if (name === 'DOMAIN_EXPIRATION') {
    return { assertions: [], domainCheck: true, note: 'an ending registration is told 30, 14, 7, 3 and 1 days before' }
  }
  if (name === 'CONNECTED' || name === 'DNS_RCODE') return implied(name, sign, value)
  if (name === 'BODY' && type === 'dns') return textual('dns_record', '', sign, value)
  if (name === 'BODY') return textual('body', '', sign, value)
  const has = /^has\(\[BODY\]\.?(.+)\)$/i.exec(subject)?.[1]
  if (has !== undefined) return existence(has, sign, value)
  const path = /^\[BODY\]\.?(.+)$/i.exec(subject)?.[1]
  if (path !== undefined) return jsonPath(path, sign, value)
  return nothing(`Picket knows nothing like ${subject}`)
}

const nothing = (note: string): Condition => ({ assertions: [], note })
const one = (type: string, operator: string, value: string, note?: string): Condition => ({
  assertions: [{ type, operator, value }],
  ...(note !== undefined && { note }),
})

/** Of whole numbers `<= 299` is `< 300`. */
function numeric(type: string, sign: string, value: string): Condition {
  if (/^any\(.*\)$/.test(value) && sign === '==') return one(type, 'matches', `^(${parseOptions(value).join('|')})$`)
  if (!/^-?\d+$/.test(value)) return nothing(`${value} is no whole number`)
  if (sign === '<=') return one(type, 'less_than', String(Number(value) + 1))
  if (sign === '>=') return one(type, 'greater_than', String(Number(value) - 1))
  return one(type, OPERATORS[sign]!, value)
}

function responseTime(sign: string, value: string): Condition {
  const ms = /^\d+$/.test(value) ? Number(value) : parseDurationMs(value)
  const note = 'a slow answer makes it degraded, not down'
  if (ms === null || !/^[<>]=?$/.test(sign)) return nothing('a time is compared with < or >')
  return one('response_time', sign.startsWith('<') ? 'less_than' : 'greater_than', String(ms), note)
}

/** `> 48h` is at least two whole days. */
function certificate(sign: string, value: string): Condition {
  const ms = parseDurationMs(value)
  if (ms === null || !sign.startsWith('>')) return nothing('the time that a certificate has left is compared with >')
  const days = ms / 86_400_000
  const note = Number.isInteger(days) ? undefined : `certificates are counted in whole days: ${Math.ceil(days)} of them`
  return one('certificate_days', 'greater_than', String(Math.ceil(days) - 1), note)
}

/** What a check that is up has anyway. */
function implied(name: string, sign: string, value: string): Condition {
  const isUsual = sign === '==' && value === (name === 'CONNECTED' ? 'true' : 'NOERROR')
  return isUsual ? { assertions: [] } : nothing(`[${name}] other than as it should be cannot be asked for`)
}

function existence(path: string, sign: string, value: string): Condition {
  const at = toPath(path)
  if (at === null || !/^(==|!=)$/.test(sign)) return nothing('its path is no plain one')
  return one('json_path', (value === 'true') === (sign === '==') ? 'exists' : 'not_exists', at)
}

function jsonPath(path: string, sign: string, value: string): Condition {
  const at = toPath(path)
  if (at === null) return nothing('its path is no plain one')
  if (/^[<>]=$/.test(sign)) return nothing(`${sign} is not known here; < and > are`)
  return textual('json_path', `${at}: `, sign, value)
}

/** `data[0].name` as `$.data[0].name`. */
function toPath(path: string): string | null {
  const at = `$${path.startsWith('[') ? '' : '.'}${path}`
  return /^\$(\.[A-Za-z_][\w-]*|\[\d+\])+$/.test(at) ? at : null
}

function textual(type: string, prefix: string, sign: string, value: string): Condition {
  const pattern = /^pat\((.*)\)$/s.exec(value)?.[1]
  const isMore = value.startsWith('any(') || pattern !== undefined
  if (isMore && !/^(==|!=)$/.test(sign)) return nothing(`${value} is compared with == or !=`)
  const not = sign === '!=' ? 'not_' : ''
  if (pattern !== undefined) return one(type, `${not}matches`, `${prefix}^${toExpression(pattern)}$`)
  if (value.startsWith('any(')) return one(type, `${not}matches`, `${prefix}^(${parseOptions(value).join('|')})$`)
  if (OPERATORS[sign] === undefined) return nothing(`${sign} is not known here`)
  if (type !== 'json_path' && /^[<>]$/.test(sign)) return nothing('a text is compared with == or !=')
  return one(type, OPERATORS[sign]!, `${prefix}${value}`)
}

const parseOptions = (value: string) =>
  value
    .slice('any('.length, -1)
    .split(',')
    .map(option => escaped(option.trim()))

/** `*` is anything, as in file names. */
const toExpression = (pattern: string) => `(?s:${pattern.split('*').map(escaped).join('.*')})`

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
