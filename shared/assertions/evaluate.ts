import { bodyText } from '../body-text.ts'
import type { Assertion } from '../check.ts'
import type { FailedAssertion, Observation } from '../result.ts'
import { isNumber, OPERATOR_NAMES, OPERATORS, type OperatorName, type Test } from './operators.ts'
import { READERS, type Reader, type Reading, type Seen } from './readers.ts'
import { statusProblem, statusTest } from './status.ts'

type Compiled = {
  degrades: boolean
  read: (seen: Seen) => Reading
  holds: Test
  needsBody: boolean
  /** instructions of its regular expression, 0 without one */
  regexSize: number
}

export type Judgement = {
  /** `degraded` when only assertions on times failed, `failed` when any other did (decisions 3.5) */
  verdict: 'passed' | 'degraded' | 'failed'
  failed: FailedAssertion[]
}

const ACTUAL_LIMIT = 200

/** Assertions of a monitor stay the same object from check to check, so each is compiled once. */
const compiledBy = new WeakMap<Assertion, Compiled>()

/**
 * Why an assertion cannot be used, as a sentence for the customer that names what would fit; null when it can
 * (decisions 3.5). Shared by the API and the probe.
 */
export function validateAssertion(assertion: Assertion): string | null {
  const wanted = wantedOf(assertion)
  return typeof wanted === 'string' ? wanted : problemOf(wanted)
}

/** Whether judging these assertions needs the response's body. */
export function needsBody(assertions: Assertion[]): boolean {
  return assertions.some(({ type }) => READERS[type]?.needsBody)
}

/**
 * What judging these takes at worst: characters to read, times instructions of regular expressions (see regex.ts).
 * @throws Error when an assertion does not pass validateAssertion
 */
export function workOf(assertions: Assertion[], { body, headers }: Pick<Observation, 'body' | 'headers'>): number {
  const bodyBytes = body?.length ?? 0
  let work = 0
  for (const assertion of assertions) {
    const { needsBody, regexSize } = compiledOf(assertion)
    if (needsBody) work += bodyBytes * (1 + regexSize)
    else if (regexSize > 0) work += lengthOf(headers) * regexSize
  }
  return work
}

function lengthOf(headers: Observation['headers']): number {
  let length = 0
  for (const name in headers) length += headers[name]!.length
  return length
}

/** @throws Error when an assertion does not pass validateAssertion, which the API has asked before */
export function evaluate(assertions: Assertion[], observation: Observation, nowMs: number): Judgement {
  const failed: FailedAssertion[] = []
  let verdict: Judgement['verdict'] = 'passed'
  const seen = seenOf(observation, nowMs)
  for (const assertion of assertions) {
    const { read, holds, degrades } = compiledOf(assertion)
    const reading = read(seen)
    if (holdsFor(reading, holds, assertion.operator)) continue
    failed.push({ ...assertion, actual: actualText(reading).slice(0, ACTUAL_LIMIT) })
    if (!degrades) verdict = 'failed'
    else if (verdict === 'passed') verdict = 'degraded'
  }
  return { verdict, failed }
}

/** Of several texts one has to satisfy a positive operator, and every one a negative operator. */
function holdsFor(reading: Reading, holds: Compiled['holds'], operator: string): boolean {
  if (reading === null || typeof reading === 'string') return holds(reading)
  if (!Array.isArray(reading)) return false
  if (reading.length === 0) return holds(null)
  return operator.startsWith('not_') ? reading.every(holds) : reading.some(holds)
}

function actualText(reading: Reading): string {
  if (reading === null) return '(not there)'
  if (typeof reading === 'string') return reading
  if (!Array.isArray(reading)) return `(${reading.unreadable})`
  return reading.length === 0 ? '(not there)' : reading.join(', ')
}

function seenOf(observation: Observation, nowMs: number): Seen {
  let text: string | undefined
  let json: { value: unknown } | undefined | null = null
  const seen: Seen = {
    observation,
    nowMs,
    text() {
      text ??= bodyText(observation)
      return text
    },
    json() {
      if (json === null) json = parse(seen.text())
      return json
    },
  }
  return seen
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function compiledOf(assertion: Assertion): Compiled {
  const known = compiledBy.get(assertion)
  if (known) return known
  const compiled = compile(assertion)
  if (typeof compiled === 'string') throw new Error(compiled)
  compiledBy.set(assertion, compiled)
  return compiled
}

/** What an assertion asks for, when its type and operator are known and fit together. */
type Wanted = { reader: Reader; operator: OperatorName; type: string; read: Compiled['read']; expected: string }

function compile(assertion: Assertion): Compiled | string {
  const wanted = wantedOf(assertion)
  if (typeof wanted === 'string') return wanted
  const { reader, operator, type, expected, read } = wanted
  const { degrades, needsBody } = reader
  // making the test compiles an expression; what is wrong with it would be a second time
  const problem = operator === 'matches' || operator === 'not_matches' ? null : problemOf(wanted)
  if (problem !== null) return problem
  const holds: Test = type === 'status_code' ? statusTest(operator, expected) : OPERATORS[operator].make(expected)
  return { degrades, read, needsBody, holds, regexSize: holds.regexSize ?? 0 }
}

function wantedOf({ type, operator, value }: Assertion): Wanted | string {
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (!reader) return `"${type}" is not a type of assertion; use one of ${Object.keys(READERS).join(', ')}`
  if (!isOperator(operator)) return `"${operator}" is not an operator; use one of ${OPERATOR_NAMES.join(', ')}`
  if (!reader.operators.includes(operator)) {
    return `${operator} does not fit ${type}; use one of ${reader.operators.join(', ')}`
  }
  const wanted = reader.want(value, OPERATORS[operator].takesValue, operator)
  if (typeof wanted === 'string') return `the value of a ${type} assertion: ${wanted}`
  return { reader, operator, type, ...wanted }
}

/** Why the value does not fit the operator, or null. */
function problemOf({ reader, type, operator, expected }: Wanted): string | null {
  const problem = valueProblem(reader, type, operator, expected)
  return problem === null ? null : `the value of a ${type} assertion: ${problem}`
}

function valueProblem(reader: Reader, type: string, operator: OperatorName, expected: string): string | null {
  if (type === 'status_code') return statusProblem(operator, expected)
  const isNumeric = !reader.operators.includes('contains')
  if (isNumeric && !isNumber(expected)) return `"${expected}" is not a number`
  return OPERATORS[operator].problem(expected)
}

function isOperator(text: string): text is OperatorName {
  return Object.hasOwn(OPERATORS, text)
}
