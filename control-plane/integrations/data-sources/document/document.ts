import { decodeBody } from '../../../../shared/checks/body-text.ts'
import { getValueAt } from './matches.ts'
import { parsePath } from './path.ts'
import { quoteValue } from './text.ts'

/** After decompression. A longer document is refused, not cut. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024
const MAX_NESTING = 500

/** Why a source has no document. `isOurFault`: the cause is in Picket, and its owner cannot fix it. */
export type SourceFailure = { code: string; message: string; isOurFault: boolean }
export type FailedFetch = { failure: SourceFailure }

/** Code of the failure of a document that needs more time or memory than its examination may use. */
export const TOO_COSTLY = 'too_costly'

/** `document`: the value at the root path. */
export type ParsedDocument = { document: unknown } | FailedFetch

/** The bytes of a response, and the headers that say how to decode them. */
export type RawDocument = { body: Buffer | null; headers: Record<string, string> | null }

/**
 * Parses a response as JSON, whatever its content type, and returns the value at `rootPath`, or why there is none. Of
 * a repeated key the last one counts; `__proto__` is a key like any other.
 */
export function parseDocument(answer: RawDocument, rootPath: string | null): ParsedDocument {
  const text = decodeBody(answer)
  if (text.trim() === '') return buildFailure('not_json', 'the response is empty, not a JSON document')
  if (computeNesting(text) > MAX_NESTING) {
    return buildFailure('too_deep', `the document is nested deeper than ${MAX_NESTING} levels`)
  }
  try {
    return applyRootPath(JSON.parse(text), rootPath)
  } catch (error) {
    return buildFailure('not_json', `the response is not JSON: ${describeContent(text, error as Error)}`)
  }
}

/** A document without its root path is another document, such as an error message of the API. */
function applyRootPath(document: unknown, rootPath: string | null): ParsedDocument {
  if (rootPath === null) return { document }
  const path = parsePath(rootPath)
  const root = 'problem' in path ? undefined : getValueAt(document, path)
  if (root !== undefined && root !== null) return { document: root }
  return buildFailure(
    'no_root',
    `root_path ${rootPath} ${root === null ? 'is null' : 'does not exist'} in the document`,
  )
}

export const buildFailure = (code: string, message: string): FailedFetch => ({
  failure: { code, message, isOurFault: false },
})

/** The beginning of any JSON text. */
const JSON_START = /^\s*([[{"\d-]|true|false|null)/

function describeContent(text: string, { message }: Error): string {
  if (text.trimStart().startsWith('<')) return /<html|<!doctype html/i.test(text) ? 'it is an HTML page' : 'it is XML'
  if (!JSON_START.test(text)) return `it begins with ${quoteValue(text.trim().slice(0, 30))}`
  const place = /at position (\d+)/.exec(message)?.[1]
  return place === undefined ? 'it ends too early, or contains invalid syntax' : `syntax error at character ${place}`
}

const QUOTE = 34
const BACKSLASH = 92
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])

/** Computes the nesting depth of a JSON text before it is parsed, because code that walks over it may recurse. */
function computeNesting(text: string): number {
  let [level, deepest, isText] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (isText && code === BACKSLASH) i++
    else if (code === QUOTE) isText = !isText
    else if (!isText && OPENING.has(code)) deepest = Math.max(deepest, ++level)
    else if (!isText && CLOSING.has(code)) level--
  }
  return deepest
}
