import { decodeBody } from '../checks/body-text.ts'
import type { Assertion } from '../checks/check.ts'
import type { FailedAssertion, Observation } from '../checks/result.ts'
import { OPERATOR_NAMES, type OperatorName } from './names.ts'
import { isNumber, OPERATORS, type OperatorTest } from './operators.ts'
import { READERS } from './readers.ts'
import { buildStatusTest, findStatusProblem } from './status.ts'
import type { AssertionInput, AssertionReader, AssertionValue } from './types.ts'

type CompiledAssertion = {
  degrades: boolean
  read: (seen: AssertionInput) => AssertionValue
  holds: OperatorTest
  needsBody: boolean
}

export type AssertionEvaluation = {
  /** `degraded` when only assertions on times failed, `failed` when any other did */
  verdict: 'passed' | 'degraded' | 'failed'
  failed: FailedAssertion[]
}

const MAX_ACTUAL_LENGTH = 200

/** Assertions of a monitor stay the same object from check to check, so each is compiled once. */
const compiledBy = new WeakMap<Assertion, CompiledAssertion>()

/**
 * The reason why an assertion is invalid, as a message for the user that names the accepted values; null when it is valid.
 * Used by the API and the probe.
 */
export function validateAssertion(assertion: Assertion): string | null {
  const wanted = parseExpectation(assertion)
  return typeof wanted === 'string' ? wanted : findProblem(wanted)
}

/** Whether these assertions need the response's body. */
export function needsBody(assertions: Assertion[]): boolean {
  return assertions.some(({ type }) => READERS[type]?.needsBody)
}

/** Of one call of `estimateWork`: at most about 4 ms. */
const MAX_COMPILE_WORK = 100_000

/**
 * The maximum work of evaluating these assertions: characters times instructions of regular expressions (see regex.ts), and the
 * compilation of those that are not kept. Small expressions that were never compiled are compiled here, so that their size
 * is known and later checks have less work; large ones are only compiled by `evaluate`.
 * @throws Error when an assertion does not pass validateAssertion
 */
export function estimateWork(
  assertions: Assertion[],
  { body, headers, dns }: Pick<Observation, 'body' | 'headers' | 'dns'>,
): number {
  const bodyBytes = body?.length ?? 0
  let work = 0
  let compiled = 0
  for (const assertion of assertions) {
    const { needsBody, holds } = getCompiled(assertion)
    const { regex } = holds
    if (regex) {
      const compileWork = regex.getCompileWork()
      work += compileWork
      if (!regex.wasCompiled() && compiled + compileWork <= MAX_COMPILE_WORK) {
        compiled += compileWork
        regex.compile()
      }
    }
    const size = regex?.getSize() ?? 0
    if (needsBody) work += bodyBytes * (1 + size)
    else if (regex) work += (sumHeaderLengths(headers) + sumRecordLengths(dns)) * size
  }
  return work
}

function sumHeaderLengths(headers: Observation['headers']): number {
  let length = 0
  for (const name in headers) length += headers[name]!.length
  return length
}

function sumRecordLengths(dns: Observation['dns']): number {
  let length = 0
  for (const { value } of dns?.records ?? []) length += value.length
  return length
}

/** @throws Error when an assertion does not pass validateAssertion, which the API calls before it is stored */
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

/** With several texts, a positive operator has to hold for one of them, a negative operator for all of them. */
function holdsFor(reading: AssertionValue, holds: CompiledAssertion['holds'], operator: string): boolean {
  if (reading === null || typeof reading === 'string') return holds(reading)
  if (!Array.isArray(reading)) return false
  if (reading.length === 0) return holds(null)
  return operator.startsWith('not_') ? reading.every(holds) : reading.some(holds)
}

function actualText(reading: AssertionValue): string {
  if (reading === null) return '(missing)'
  if (typeof reading === 'string') return reading
  if (!Array.isArray(reading)) return `(${reading.unreadable})`
  return reading.length === 0 ? '(missing)' : reading.join(', ')
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

/** A parsed assertion whose type and operator are known and compatible. */
type ParsedAssertion = {
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
  // the test of an expression throws if it is invalid, so it is not validated twice
  const problem = operator === 'matches' || operator === 'not_matches' ? null : findProblem(wanted)
  if (problem !== null) return problem
  const holds: OperatorTest =
    type === 'status_code' ? buildStatusTest(operator, expected) : OPERATORS[operator].make(expected)
  return { degrades, read, needsBody, holds }
}

function parseExpectation({ type, operator, value }: Assertion): ParsedAssertion | string {
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (!reader) return `"${type}" is not an assertion type; use one of ${Object.keys(READERS).join(', ')}`
  if (!isOperator(operator)) return `"${operator}" is not an operator; use one of ${OPERATOR_NAMES.join(', ')}`
  if (!reader.operators.includes(operator)) {
    return `${operator} is not supported by ${type}; use one of ${reader.operators.join(', ')}`
  }
  const wanted = reader.parseExpectation(value, OPERATORS[operator].takesValue, operator)
  if (typeof wanted === 'string') return `value of the ${type} assertion: ${wanted}`
  return { reader, operator, type, ...wanted }
}

/** The reason why the value is invalid for the operator, or null. */
function findProblem({ reader, type, operator, expected }: ParsedAssertion): string | null {
  const problem = valueProblem(reader, type, operator, expected)
  return problem === null ? null : `value of the ${type} assertion: ${problem}`
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
