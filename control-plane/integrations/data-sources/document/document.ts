import { decodeBody } from '../../../../shared/checks/body-text.ts'
import { getValueAt } from './matches.ts'
import { parsePath } from './path.ts'
import { quoteValue } from './text.ts'

/** After decompression; a longer answer is refused, not cut. */
export const MAX_DOCUMENT_BYTES = 5 * 1024 * 1024
const MAX_NESTING = 500

/** Why a source gave no document. `isOurFault`: nothing that its owner could mend. */
export type SourceFailure = { code: string; message: string; isOurFault: boolean }
export type FailedFetch = { failure: SourceFailure }

/** `document`: what stands at the root of it. */
export type ParsedDocument = { document: unknown } | FailedFetch

/** The bytes of an answer, and what says how to read them. */
export type RawDocument = { body: Buffer | null; headers: Record<string, string> | null }

/**
 * What stands at `rootPath` in the JSON document that an answer holds, whatever its content type says; else why it is
 * none. Of a key that stands there twice the last one counts; `__proto__` is a key like any.
 */
export function parseDocument(answer: RawDocument, rootPath: string | null): ParsedDocument {
  const text = decodeBody(answer)
  if (text.trim() === '') return buildFailure('not_json', 'the answer is empty, not a JSON document')
  if (computeNesting(text) > MAX_NESTING) {
    return buildFailure('too_deep', `the document is nested deeper than ${MAX_NESTING} levels`)
  }
  try {
    return applyRootPath(JSON.parse(text), rootPath)
  } catch (error) {
    return buildFailure('not_json', `the answer is not JSON: ${describeContent(text, error as Error)}`)
  }
}

/** A document without its root is another one, such as the answer of an API that says what went wrong. */
function applyRootPath(document: unknown, rootPath: string | null): ParsedDocument {
  if (rootPath === null) return { document }
  const path = parsePath(rootPath)
  const root = 'problem' in path ? undefined : getValueAt(document, path)
  if (root !== undefined && root !== null) return { document: root }
  return buildFailure(
    'no_root',
    `root_path ${rootPath} ${root === null ? 'is null' : 'leads to nothing'} in the document`,
  )
}

export const buildFailure = (code: string, message: string): FailedFetch => ({
  failure: { code, message, isOurFault: false },
})

/** Of anything that may be JSON. */
const JSON_START = /^\s*([[{"\d-]|true|false|null)/

function describeContent(text: string, { message }: Error): string {
  if (text.trimStart().startsWith('<')) return /<html|<!doctype html/i.test(text) ? 'it is an HTML page' : 'it is XML'
  if (!JSON_START.test(text)) return `it begins with ${quoteValue(text.trim().slice(0, 30))}`
  const place = /at position (\d+)/.exec(message)?.[1]
  return place === undefined
    ? 'it ends too early, or holds what JSON does not know'
    : `it breaks off at character ${place}`
}

const QUOTE = 34
const BACKSLASH = 92
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])

/** How deep a text is nested, were it JSON; looked at before it is parsed, because what walks over it may recurse. */
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
