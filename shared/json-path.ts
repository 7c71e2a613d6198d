/** A key, an index, or WILDCARD: every key or element. */
export type PathStep = string | number | typeof WILDCARD

export const WILDCARD = null

const BRACKETS = String.raw`\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]`

/**
 * Paths are written in two ways. `[0]`, `['a key']` and `["a key"]` mean the same in both; a backslash quotes the next character.
 *
 * | | `plain`, of assertions | `wildcards`, of data sources |
 * |---|---|---|
 * | a key without quotes | letters, digits, `_`, `$` and `-`, no digit or `-` first, because a text follows the path | all characters except `.[]*'"` |
 * | the first key | has a dot before it | has no dot before it at the start of the text |
 * | `*` and `[*]` | end the path | every key or element |
 */
const GRAMMARS = {
  plain: new RegExp(String.raw`${BRACKETS}|\.([A-Za-z_$][\w$-]*)`, 'y'),
  wildcards: new RegExp(String.raw`${BRACKETS}|(?:^|(?!^)\.)(?:([^.[\]*'"]+)|\*)|\[\*\]`, 'y'),
}

/** Parses steps from the character `start` on. `end`: the position after the last step. `plain` has no alternative for `*`. */
export function parsePathSteps(text: string, start: number, grammar: 'plain'): ParsedSteps<string | number>
export function parsePathSteps(text: string, start: number, grammar: 'wildcards'): ParsedSteps<PathStep>
export function parsePathSteps(text: string, start: number, grammar: keyof typeof GRAMMARS): ParsedSteps<PathStep> {
  const pattern = GRAMMARS[grammar]
  const steps: PathStep[] = []
  let end = start
  for (;;) {
    pattern.lastIndex = end
    const found = pattern.exec(text)
    if (!found) return { steps, end }
    steps.push(toStep(found))
    end = pattern.lastIndex
  }
}

type ParsedSteps<Step> = { steps: Step[]; end: number }

function toStep([, index, single, double, key]: RegExpExecArray): PathStep {
  if (index !== undefined) return Number(index)
  const quoted = single ?? double
  return quoted === undefined ? (key ?? WILDCARD) : quoted.replace(/\\(.)/g, '$1')
}
