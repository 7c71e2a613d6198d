import { dump, load, YAMLException } from 'js-yaml'
import { assertPlain, decodeUtf8 } from '../web/body.ts'
import { validationError } from '../web/errors.ts'

const MAX_DEPTH = 64
/** Enough for a block that many monitors share. What they stand for counts towards the values of a body. */
const MAX_ALIASES = 1_000

/**
 * The value of a YAML body, held to the same bounds as a JSON one. Only what JSON has can be written: tags, and keys that
 * are no text, are refused, and so is a key twice. Throws 400 with the line.
 */
export function parseYaml(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const value = loadYaml(decodeUtf8(bytes))
  assertPlain(value)
  return value
}

/** Strings that another reader could take for something else are quoted. */
export const writeYaml = (value: unknown): string => dump(value, { lineWidth: 120, noRefs: true })

function loadYaml(text: string): unknown {
  try {
    return load(text, { maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`
    throw validationError([{ path: '', message: `the body is not valid YAML${line}: ${error.reason}` }])
  }
}
