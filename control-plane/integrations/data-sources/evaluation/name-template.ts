import { formatPlace, type PathMatch } from '../document/matches.ts'
import { formatValue, toLine } from '../document/text.ts'

/** Maximum length of a monitor's name. */
const MAX_NAME_CHARACTERS = 100

/** Texts and placeholders in turns. */
export type NameTemplate = readonly (string | ((match: PathMatch) => string))[]

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/
const KNOWN_PLACEHOLDERS = '{{key}}, {{value}} and {{key.1}} for what the first wildcard matched'

/** Parses a template such as `{{key}} in {{key.2}}`, or returns a problem. */
export function parseNameTemplate(text: string, wildcards: number): NameTemplate | { problem: string } {
  const template: (string | ((match: PathMatch) => string))[] = []
  for (const [i, part] of text.split(PLACEHOLDER).entries()) {
    if (i % 2 === 0) {
      if (/[{}]/.test(part)) return { problem: `may use braces only for ${KNOWN_PLACEHOLDERS}` }
      template.push(part)
      continue
    }
    const placeholder = compilePlaceholder(part, wildcards)
    if (typeof placeholder !== 'function') return placeholder
    template.push(placeholder)
  }
  return template
}

function compilePlaceholder(name: string, wildcards: number): ((match: PathMatch) => string) | { problem: string } {
  if (name === 'key') return match => match.key
  if (name === 'value') return match => formatValue(match.value)
  const [, digits] = /^key\.(\d{1,2})$/.exec(name) ?? []
  if (digits === undefined) return { problem: `contains {{${name}}}; accepted are ${KNOWN_PLACEHOLDERS}` }
  const number = Number(digits)
  if (number >= 1 && number <= wildcards) return match => String(match.bound[number - 1])
  const counted = wildcards === 1 ? '1 wildcard' : `${wildcards === 0 ? 'no' : wildcards} wildcards`
  return { problem: `contains {{${name}}}, but the path has ${counted} (the first is 1)` }
}

/** Renders the name of a monitor: one line of 1-100 characters. */
export function renderName(template: NameTemplate, match: PathMatch): string {
  const parts = template.map(part => (typeof part === 'string' ? part : toLine(part(match), MAX_NAME_CHARACTERS)))
  return (
    toLine(parts.join(''), MAX_NAME_CHARACTERS) ||
    toLine(match.key, MAX_NAME_CHARACTERS) ||
    toLine(formatPlace(match), MAX_NAME_CHARACTERS)
  )
}
