import { decodeBody } from '../checks/body-text.ts'
import type { Assertion } from '../checks/check.ts'
import type { FailedAssertion, Observation } from '../checks/result.ts'
import { isNumber, OPERATOR_NAMES, OPERATORS, type OperatorName, type OperatorTest } from './operators.ts'
import { READERS } from './readers.ts'
import { buildStatusTest, findStatusProblem } from './status.ts'
import type { AssertionInput, AssertionReader, AssertionValue } from './types.ts'

type CompiledAssertion = {
  degrades: boolean
  read: (seen: AssertionInput) => AssertionValue
  holds: OperatorTest
  needsBody: boolean
  /** instructions of its regular expression, 0 without one */
  regexSize: number
}

export type AssertionEvaluation = {
  /** `degraded` when only assertions on times failed, `failed` when any other did (decisions 3.5) */
  verdict: 'passed' | 'degraded' | 'failed'
  failed: FailedAssertion[]
}

const MAX_ACTUAL_LENGTH = 200

/** Assertions of a monitor stay the same object from check to check, so each is compiled once. */
const compiledBy = new WeakMap<Assertion, CompiledAssertion>()

/**
 * Why an assertion cannot be used, as a sentence for the customer that names what would fit; null when it can
 * (decisions 3.5). Shared by the API and the probe.
 */
export function validateAssertion(assertion: Assertion): string | null {
  const wanted = parseExpectation(assertion)
  return typeof wanted === 'string' ? wanted : findProblem(wanted)
}

/** Whether judging these assertions needs the response's body. */
export function needsBody(assertions: Assertion[]): boolean {
  return assertions.some(({ type }) => READERS[type]?.needsBody)
}

/**
 * What judging these takes at worst: characters to read, times instructions of regular expressions (see regex.ts).
 * @throws Error when an assertion does not pass validateAssertion
 */
export function estimateWork(
  assertions: Assertion[],
  { body, headers }: Pick<Observation, 'body' | 'headers'>,
): number {
  const bodyBytes = body?.length ?? 0
  let work = 0
  for (const assertion of assertions) {
    const { needsBody, regexSize } = getCompiled(assertion)
    if (needsBody) work += bodyBytes * (1 + regexSize)
    else if (regexSize > 0) work += sumHeaderLengths(headers) * regexSize
  }
  return work
}

function sumHeaderLengths(headers: Observation['headers']): number {
  let length = 0
  for (const name in headers) length += headers[name]!.length
  return length
}

/** @throws Error when an assertion does not pass validateAssertion, which the API has asked before */
export function evaluate(assertions: Assertion[], observation: Observation, nowMs: number): AssertionEvaluation {
  const failed: FailedAssertion[] = []
  let verdict: AssertionEvaluation['verdict'] = 'passed'
  const seen = createAssertionInput(observation, nowMs)
  for (const assertion of assertions) {
    const { read, holds, degrades } = getCompiled(assertion)
    const reading = read(seen)
    if (holdsFor(reading, holds, assertion.operator)) continue
    failed.push({ ...assertion, actual: actualText(reading).slice(0, MAX_ACTUAL_LENGTH) })
    if (!degrades) verdict = 'failed'
    else if (verdict === 'passed') verdict = 'degraded'
  }
  return { verdict, failed }
}

/** Of several texts one has to satisfy a positive operator, and every one a negative operator. */
function holdsFor(reading: AssertionValue, holds: CompiledAssertion['holds'], operator: string): boolean {
  if (reading === null || typeof reading === 'string') return holds(reading)
  if (!Array.isArray(reading)) return false
  if (reading.length === 0) return holds(null)
  return operator.startsWith('not_') ? reading.every(holds) : reading.some(holds)
}

function actualText(reading: AssertionValue): string {
  if (reading === null) return '(not there)'
  if (typeof reading === 'string') return reading
  if (!Array.isArray(reading)) return `(${reading.unreadable})`
  return reading.length === 0 ? '(not there)' : reading.join(', ')
}

function createAssertionInput(observation: Observation, nowMs: number): AssertionInput {
  let text: string | undefined
  let json: { value: unknown } | undefined | null = null
  const seen: AssertionInput = {
    observation,
    nowMs,
    text() {
      text ??= decodeBody(observation)
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

function getCompiled(assertion: Assertion): CompiledAssertion {
  const known = compiledBy.get(assertion)
  if (known) return known
  const compiled = compile(assertion)
  if (typeof compiled === 'string') throw new Error(compiled)
  compiledBy.set(assertion, compiled)
  return compiled
}

/** What an assertion asks for, when its type and operator are known and fit together. */
type Wanted = {
  reader: AssertionReader
  operator: OperatorName
  type: string
  read: CompiledAssertion['read']
  expected: string
}

function compile(assertion: Assertion): CompiledAssertion | string {
  const wanted = parseExpectation(assertion)
  if (typeof wanted === 'string') return wanted
  const { reader, operator, type, expected, read } = wanted
  const { degrades, needsBody } = reader
  // making the test compiles an expression; what is wrong with it would be a second time
  const problem = operator === 'matches' || operator === 'not_matches' ? null : findProblem(wanted)
  if (problem !== null) return problem
  const holds: OperatorTest =
    type === 'status_code' ? buildStatusTest(operator, expected) : OPERATORS[operator].make(expected)
  return { degrades, read, needsBody, holds, regexSize: holds.regexSize ?? 0 }
}

function parseExpectation({ type, operator, value }: Assertion): Wanted | string {
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (!reader) return `"${type}" is not a type of assertion; use one of ${Object.keys(READERS).join(', ')}`
  if (!isOperator(operator)) return `"${operator}" is not an operator; use one of ${OPERATOR_NAMES.join(', ')}`
  if (!reader.operators.includes(operator)) {
    return `${operator} does not fit ${type}; use one of ${reader.operators.join(', ')}`
  }
  const wanted = reader.parseExpectation(value, OPERATORS[operator].takesValue, operator)
  if (typeof wanted === 'string') return `the value of a ${type} assertion: ${wanted}`
  return { reader, operator, type, ...wanted }
}

/** Why the value does not fit the operator, or null. */
function findProblem({ reader, type, operator, expected }: Wanted): string | null {
  const problem = valueProblem(reader, type, operator, expected)
  return problem === null ? null : `the value of a ${type} assertion: ${problem}`
}

function valueProblem(reader: AssertionReader, type: string, operator: OperatorName, expected: string): string | null {
  if (type === 'status_code') return findStatusProblem(operator, expected)
  const isNumeric = !reader.operators.includes('contains')
  if (isNumeric && !isNumber(expected)) return `"${expected}" is not a number`
  return OPERATORS[operator].problem(expected)
}

function isOperator(text: string): text is OperatorName {
  return Object.hasOwn(OPERATORS, text)
}
