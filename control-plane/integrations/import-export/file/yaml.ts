import { dump, load, YAMLException } from 'js-yaml'
import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { splitByWeight } from '../../../foundation/web/server/json-weight.ts'
import { assertPlain, assertTextLength, type BodyLimits, decodeUtf8 } from '../../../foundation/web/validation/body.ts'

const MAX_DEPTH = 64
/** Enough for a block that many monitors share. Expanded values count towards the limit of a body. */
const MAX_ALIASES = 1_000
/** Enough for a text of 2,000 characters at each alias. A few aliases of aliases can make gigabytes of a short file. */
const MAX_REPEATED_CHARACTERS = 2_000_000

/**
 * Parses a YAML body with the limits of a JSON body. Only values of JSON are accepted: tags, keys that are not texts, and
 * repeated keys are refused. Throws 400 with the line.
 */
export function parseYaml(bytes: Buffer, limits?: BodyLimits): unknown {
  if (bytes.length === 0) return undefined
  const text = decodeUtf8(bytes)
  const value = loadYaml(text)
  // before other checks, which read each text wherever it is repeated; nothing is repeated without an anchor
  if (text.includes('&')) assertTextLength(value, text.length + MAX_REPEATED_CHARACTERS, tooLong, limits)
  assertPlain(value, limits)
  return value
}

const tooLong = () =>
  validationError([
    { path: '', message: `the aliases of the body must repeat at most ${MAX_REPEATED_CHARACTERS} characters` },
  ])

/** About 5 ms of work. */
const MAX_PIECE_WEIGHT = 1_000

/**
 * Formats a record as YAML. Long lists are written in pieces, with pauses between them. Strings that a parser could take
 * for another type are quoted.
 */
export async function formatYaml(record: object, pause: YieldPoint): Promise<string> {
  let text = ''
  for (const [key, value] of Object.entries(record)) {
    const pieces = Array.isArray(value) && value.length > 0 ? splitByWeight(value, MAX_PIECE_WEIGHT) : [value]
    let isFirst = true
    for (const piece of pieces) {
      const written = dump({ [key]: piece }, { lineWidth: 120, noRefs: true })
      // the key is written once
      text += isFirst ? written : written.slice(written.indexOf('\n') + 1)
      isFirst = false
      await pause()
    }
  }
  return text
}

function loadYaml(text: string): unknown {
  try {
    return load(text, { maxDepth: MAX_DEPTH, maxAliases: MAX_ALIASES })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark === undefined ? '' : ` in line ${error.mark.line + 1}`
    throw validationError([{ path: '', message: `the body is not valid YAML${line}: ${error.reason}` }])
  }
}
