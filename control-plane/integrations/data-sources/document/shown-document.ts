/** Maximum size of a document that a preview returns, as JSON in UTF-8. */
export const MAX_SHOWN_BYTES = 262_144
/** A longer key of a document that is cut is left out. */
const MAX_KEY_BYTES = 1_000
/** Shorter texts are not cut. */
const MIN_TEXT_BYTES = 400
/** The largest share of the remaining size that one of many entries may take. */
const MAX_SHARE = 1 / 20

/** `isCut`: some entries are left out, or texts are shortened. */
export type ShownDocument = { value: unknown; isCut: boolean }

type Part = { value: unknown; bytes: number; isCut: boolean }

/**
 * Limits the size of a document: it is unchanged up to MAX_SHOWN_BYTES, otherwise without the last entries of long lists and
 * objects, and with shortened texts. The remaining values have the same paths as in the whole document.
 */
export function reduceDocument(value: unknown): ShownDocument {
  if (measure(value) <= MAX_SHOWN_BYTES) return { value, isCut: false }
  return { value: reduce(value, MAX_SHOWN_BYTES)?.value ?? null, isCut: true }
}

const measure = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

/** Returns null for a value that does not fit. */
function reduce(value: unknown, bytes: number): Part | null {
  if (typeof value === 'string') return reduceText(value, bytes)
  if (typeof value === 'object' && value !== null) return bytes < 2 ? null : reduceEntries(value, bytes)
  const own = String(value).length
  return own <= bytes ? { value, bytes: own, isCut: false } : null
}

function reduceText(text: string, bytes: number): Part | null {
  const own = text.length > bytes ? Number.POSITIVE_INFINITY : measure(text)
  if (own <= bytes) return { value: text, bytes: own, isCut: false }
  if (bytes < MIN_TEXT_BYTES) return null
  // a character takes at most 6 bytes (\u0000)
  const short = `${text.slice(0, Math.floor((bytes - 8) / 6)).replace(/[\ud800-\udbff]$/, '')}…`
  return { value: short, bytes: measure(short), isCut: true }
}

function reduceEntries(container: object, bytes: number): Part {
  const isList = Array.isArray(container)
  // no keys of a list: a document of 5 MiB may have a million elements
  const keys = isList ? null : Object.keys(container)
  const count = keys?.length ?? (container as unknown[]).length
  const kept: [string, unknown][] = []
  let [left, isCut] = [bytes - 2, false]
  for (let i = 0; i < count; i++) {
    const key = keys?.[i] ?? String(i)
    const keyBytes = (isList ? 0 : measureKey(key)) + 1
    const share = Math.floor(Math.max(left / (count - i), left * MAX_SHARE)) - keyBytes
    const part = keyBytes > MAX_KEY_BYTES ? null : reduce((container as Record<string, unknown>)[key], share)
    isCut ||= part === null || part.isCut
    // the elements of a list keep their index; those at its end are not shown without their contents
    if (isList && (part === null || (part.isCut && left < bytes * MAX_SHARE))) break
    if (part === null && left < MIN_TEXT_BYTES) break
    if (part === null) continue
    kept.push([key, part.value])
    left -= part.bytes + keyBytes
  }
  return { value: isList ? kept.map(([, value]) => value) : Object.fromEntries(kept), bytes: bytes - left, isCut }
}

const measureKey = (key: string): number => (key.length > MAX_KEY_BYTES ? MAX_KEY_BYTES : measure(key)) + 1
