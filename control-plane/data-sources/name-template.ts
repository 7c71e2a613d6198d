import type { Match } from './matches.ts'
import { lineOf, textOf } from './text.ts'

/** The name of a monitor, as far as monitors' names go (specification, "Monitor"). */
const MOST_CHARACTERS = 100

/** Texts, and what a match puts between them. */
export type Template = readonly (string | ((match: Match) => string))[]

const PLACE = /\{\{\s*([^{}]*?)\s*\}\}/
const KNOWN = '{{key}}, {{value}} and {{key.1}} for what the first wildcard matched'

/** Reads `{{key}} in {{key.2}}`; else what is wrong with it (decisions 9.2). */
export function parseTemplate(text: string, wildcards: number): Template | { problem: string } {
  const template: (string | ((match: Match) => string))[] = []
  for (const [i, part] of text.split(PLACE).entries()) {
    if (i % 2 === 0) {
      if (/[{}]/.test(part)) return { problem: `braces are for ${KNOWN} only` }
      template.push(part)
      continue
    }
    const place = placeOf(part, wildcards)
    if (typeof place !== 'function') return place
    template.push(place)
  }
  return template
}

function placeOf(name: string, wildcards: number): ((match: Match) => string) | { problem: string } {
  if (name === 'key') return match => match.key
  if (name === 'value') return match => textOf(match.value)
  const [, digits] = /^key\.(\d{1,2})$/.exec(name) ?? []
  if (digits === undefined) return { problem: `does not know {{${name}}}; there are ${KNOWN}` }
  const number = Number(digits)
  if (number >= 1 && number <= wildcards) return match => String(match.bound[number - 1])
  const counted = wildcards === 1 ? '1 wildcard' : `${wildcards === 0 ? 'no' : wildcards} wildcards`
  return { problem: `has {{${name}}}, but the path has ${counted}, counted from 1` }
}

/** The name of the monitor of a match: one line of 1-100 characters. */
export function renderName(template: Template, match: Match): string {
  const parts = template.map(part => (typeof part === 'string' ? part : lineOf(part(match), MOST_CHARACTERS)))
  return (
    lineOf(parts.join(''), MOST_CHARACTERS) ||
    lineOf(match.key, MOST_CHARACTERS) ||
    lineOf(match.place, MOST_CHARACTERS)
  )
}
