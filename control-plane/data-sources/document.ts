import { bodyText } from '../../shared/body-text.ts'
import { valueAt } from './matches.ts'
import { parsePath } from './path.ts'
import { shown } from './text.ts'

/** After decompression; a longer answer is refused, not cut. */
export const MOST_DOCUMENT_BYTES = 5 * 1024 * 1024
const MOST_LEVELS = 500

/** Why a source gave no document. `isOurFault`: nothing that its owner could mend. */
export type Failure = { code: string; message: string; isOurFault: boolean }
export type Failed = { failure: Failure }

/** `document`: what stands at the root of it. */
export type Fetched = { document: unknown } | Failed

/** The bytes of an answer, and what says how to read them. */
export type Answered = { body: Buffer | null; headers: Record<string, string> | null }

/**
 * What stands at `rootPath` in the JSON document that an answer holds, whatever its content type says; else why it is
 * none. Of a key that stands there twice the last one counts; `__proto__` is a key like any.
 */
export function readDocument(answer: Answered, rootPath: string | null): Fetched {
  const text = bodyText(answer)
  if (text.trim() === '') return failed('not_json', 'the answer is empty, not a JSON document')
  if (levelsOf(text) > MOST_LEVELS) {
    return failed('too_deep', `the document is nested deeper than ${MOST_LEVELS} levels`)
  }
  try {
    return atRoot(JSON.parse(text), rootPath)
  } catch (error) {
    return failed('not_json', `the answer is not JSON: ${whatItIs(text, error as Error)}`)
  }
}

/** A document without its root is another one, such as the answer of an API that says what went wrong. */
function atRoot(document: unknown, rootPath: string | null): Fetched {
  if (rootPath === null) return { document }
  const path = parsePath(rootPath)
  const root = 'problem' in path ? undefined : valueAt(document, path)
  if (root !== undefined && root !== null) return { document: root }
  return failed('no_root', `root_path ${rootPath} ${root === null ? 'is null' : 'leads to nothing'} in the document`)
}

export const failed = (code: string, message: string): Failed => ({ failure: { code, message, isOurFault: false } })

/** Of anything that may be JSON. */
const BEGINNING = /^\s*([[{"\d-]|true|false|null)/

function whatItIs(text: string, { message }: Error): string {
  if (text.trimStart().startsWith('<')) return /<html|<!doctype html/i.test(text) ? 'it is an HTML page' : 'it is XML'
  if (!BEGINNING.test(text)) return `it begins with ${shown(text.trim().slice(0, 30))}`
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
function levelsOf(text: string): number {
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
