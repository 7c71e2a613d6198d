import type { ErrorObject } from 'ajv'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { ErrorDetail } from '../server/errors.ts'
import { isDateTime } from './date-time.ts'
import { isTimeZone } from './time-zone.ts'

/** One error of Fastify's validator (Ajv). */
export type ValidationFault = {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message?: string
}

/**
 * A compiled schema as Fastify calls it; `errors` are those of the last value. For a value with more than `maxValues` values
 * only the first error is found.
 */
export type SchemaCheck = ((value: unknown, maxValues?: number) => boolean) & { errors?: ErrorObject[] | null }

/** Compiles a schema. */
export type CompileSchema = (of: { schema: object }) => SchemaCheck

/** The number of values, containers included. Stops counting at `max`. */
export function countValues(value: unknown, max: number): number {
  if (max <= 0 || typeof value !== 'object' || value === null) return Math.min(1, Math.max(0, max))
  let count = 1
  for (const key in value) {
    if (count >= max) return count
    count += countValues((value as Record<string, unknown>)[key], max - count)
  }
  return count
}

export const hasMoreValues = (value: unknown, max: number): boolean => countValues(value, max + 1) > max

/** Validates a value against a schema. For a value with more than `maxValues` values only the first fault is found. */
export type FindFaults = (schema: TSchema, value: unknown, maxValues?: number) => ValidationFault[]

/** Uses Fastify's validator for schemas that are known only after the body was read, so that all messages have one form. */
export const createFaultFinder =
  (request: FastifyRequest): FindFaults =>
  (schema, value, maxValues) => {
    const check = request.compileValidationSchema(schema as Record<string, unknown>, 'body') as unknown as SchemaCheck
    return check(value, maxValues) ? [] : (check.errors ?? [])
  }

/**
 * Additional formats, and stricter ones than Ajv's. `line`: text for a header, a subject, a host or a name. `time-zone`: a
 * name of the IANA database.
 */
export const FORMATS = {
  line: /^[^\r\n\0]*$/,
  'time-zone': isTimeZone,
  'date-time': isDateTime,
}

const MAX_DETAILS = 50

const FORMAT_SENTENCES: Record<string, string> = {
  line: 'must not contain line breaks or NUL',
  'time-zone': 'must be an IANA time zone name, such as Europe/Berlin',
  email: 'must be an email address',
  uri: 'must be a URL',
  'date-time': 'must be a date and time such as 2026-08-01T12:00:00Z',
  date: 'must be a date such as 2026-08-01',
}

const PATTERN_SENTENCES: Record<string, string> = {
  '^[a-z0-9-]+$': 'must contain only lower-case letters, digits and hyphens',
  '^#[0-9a-fA-F]{6}$': 'must be a color such as #2563eb',
}

const TYPE_SENTENCES: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

/** Faults as paths and sentences, for example "interval_seconds must be at least 30". */
export function toErrorDetails(faults: ValidationFault[], part: string): ErrorDetail[] {
  const details = withoutBranches(faults.slice(0, MAX_DETAILS)).map(fault => {
    const path = formatPath(fault)
    const orNull = fault.keyword === 'type' && faults.some(other => isNullBranch(other) && hasSamePath(other, fault))
    return { path, message: `${path || `the ${part}`} ${formatSentence(fault)}${orNull ? ' or null' : ''}` }
  })
  return [...new Map(details.map(detail => [detail.message, detail])).values()]
}

/** `assertions` + `1` → `assertions[1]`; `config` + `url` → `config.url`. */
export function joinPath(path: string, key: string, isItem: boolean): string {
  if (isItem) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

/** For a union, Ajv reports an error for each branch and one for the union. Keeps the useful ones. */
function withoutBranches(faults: ValidationFault[]): ValidationFault[] {
  const isNoise = (fault: ValidationFault) =>
    fault.keyword === 'anyOf' || fault.keyword === 'oneOf' || isNullBranch(fault)
  return faults.filter(
    fault =>
      !isNoise(fault) || !faults.some(other => !isNoise(other) && other.instancePath.startsWith(fault.instancePath)),
  )
}

const isNullBranch = (fault: ValidationFault) => fault.keyword === 'type' && fault.params.type === 'null'
const hasSamePath = (a: ValidationFault, b: ValidationFault) => a !== b && a.instancePath === b.instancePath

function formatPath({ keyword, instancePath, params }: ValidationFault): string {
  const keys = instancePath
    .split('/')
    .slice(1)
    .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') keys.push(String(params.missingProperty))
  if (keyword === 'additionalProperties') keys.push(String(params.additionalProperty))
  return keys.reduce((path, key) => joinPath(path, key, path !== '' && /^\d+$/.test(key)), '')
}

function formatSentence({ keyword, params, message }: ValidationFault): string {
  const limit = Number(params.limit)
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a known property'
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map(type => TYPE_SENTENCES[String(type)] ?? type)
        .join(' or ')}`
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'minLength':
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} ${getUnit(keyword)}`
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${limit} ${getUnit(keyword)}`
    case 'uniqueItems':
      return 'must not contain the same item twice'
    case 'pattern':
      return PATTERN_SENTENCES[String(params.pattern)] ?? `must match ${params.pattern}`
    case 'format':
      return FORMAT_SENTENCES[String(params.format)] ?? `must be a valid ${params.format}`
    default:
      return message ?? 'is not valid'
  }
}

const getUnit = (keyword: string) =>
  keyword.endsWith('Length') ? 'characters' : keyword.endsWith('Items') ? 'items' : 'properties'
