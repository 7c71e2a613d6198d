import { Type } from 'typebox'
import { isSensitiveName, MASK } from '../../../../shared/secret-names.ts'
import type { ErrorDetail } from '../server/errors.ts'

export { isSensitiveName, MASK }

/** Request headers that a user configured, names as written. */
export type HeaderMap = Record<string, string>

/** At most 50 headers. Values are one line of what HTTP can carry; names are checked by `headerProblems`. */
export const HeaderMapSchema = Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), { maxProperties: 50 })

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** They say how a message is framed, which is not the user's to decide. */
const FRAMING = /^(connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/

/** Everything wrong with a header map at `path`: names, line breaks, a name twice, framing headers. */
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
  if (!TOKEN.test(name)) return `${shown} is not a header name`
  if (seen.has(name.toLowerCase())) return `the header ${shown} is there twice`
  if (FRAMING.test(name.toLowerCase())) return `the header ${shown} is set by Picket itself`
  if (!VALUE.test(value)) return `the value of the header ${shown} has to be one line of ISO 8859-1 characters`
  return null
}

/** The headers as a read shows them. */
export function maskHeaders(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSensitiveName(name) ? MASK : value]),
  )
}

/** Puts the stored value back where a sensitive header was sent back masked; `problems` where none is stored. */
export function unmaskHeaders(sent: HeaderMap, stored: HeaderMap | null, path: string) {
  const known = new Map(Object.entries(stored ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const problems: ErrorDetail[] = []
  const entries = Object.entries(sent).map(([name, value]) => {
    if (value !== MASK || !isSensitiveName(name)) return [name, value]
    const kept = known.get(name.toLowerCase())
    if (kept === undefined) {
      problems.push({ path: `${path}.${name}`, message: `there is no stored value of ${name} to keep; send the value` })
    }
    return [name, kept ?? value]
  })
  return { headers: Object.fromEntries(entries) as HeaderMap, problems }
}
