import { Type } from 'typebox'
import { isSensitiveName, MASK } from '../../../../shared/secret-names.ts'
import type { ErrorDetail } from '../server/errors.ts'

export { isSensitiveName, MASK }

/** Request headers that a user configured, names as written. */
export type HeaderMap = Record<string, string>

/** At most 50 headers. `findHeaderProblems` checks names and values. */
export const HeaderMapSchema = Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), { maxProperties: 50 })

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers that frame a message, which users may not set. */
const FRAMING = /^(connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/

/** The problems of a header map at `path`: names, line breaks, duplicates, framing headers. */
export function findHeaderProblems(headers: HeaderMap, path: string): ErrorDetail[] {
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([name, value]) => {
    const problem = findHeaderProblem(name, value, seen)
    seen.add(name.toLowerCase())
    return problem === null ? [] : [{ path: `${path}.${name}`, message: problem }]
  })
}

function findHeaderProblem(name: string, value: string, seen: Set<string>): string | null {
  const shown = JSON.stringify(name)
  if (!TOKEN.test(name)) return `${shown} is not a valid header name`
  if (seen.has(name.toLowerCase())) return `the header ${shown} is listed twice`
  if (FRAMING.test(name.toLowerCase())) return `the header ${shown} is set by Picket and cannot be configured`
  if (!VALUE.test(value)) return `the value of the header ${shown} must be one line of ISO 8859-1 characters`
  return null
}

/** The headers as a read shows them. */
export function maskHeaders(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSensitiveName(name) ? MASK : value]),
  )
}

/** Replaces masked sensitive headers by their stored values; `problems` where no value is stored. */
export function unmaskHeaders(sent: HeaderMap, stored: HeaderMap | null, path: string) {
  const known = new Map(Object.entries(stored ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const problems: ErrorDetail[] = []
  const entries = Object.entries(sent).map(([name, value]) => {
    if (value !== MASK || !isSensitiveName(name)) return [name, value]
    const kept = known.get(name.toLowerCase())
    if (kept === undefined) {
      problems.push({
        path: `${path}.${name}`,
        message: `${path}.${name} is masked, but no value is stored; send the value`,
      })
    }
    return [name, kept ?? value]
  })
  return { headers: Object.fromEntries(entries) as HeaderMap, problems }
}
