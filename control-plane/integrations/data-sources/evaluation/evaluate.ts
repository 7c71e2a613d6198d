import { createSearch, findMatches, type PathMatch, type PathSearch } from '../document/matches.ts'
import { formatValue, type ScalarValue, toLine, toScalar, toStorableText } from '../document/text.ts'
import type { FieldDefinition } from '../types.ts'
import { type CompiledField, compileField } from './compiled-field.ts'
import { renderName } from './name-template.ts'
import type { RuleContext, UrlChecks } from './rule.ts'
import { parseUrl } from './rules.ts'

/** At most so many monitors a source (decisions 9.4). */
export const MAX_CHILDREN = 200
const MAX_KEY_CHARACTERS = 200
const MAX_VALUE_CHARACTERS = 200
const MAX_REASON_CHARACTERS = 500

export type ChildOutcome = 'up' | 'degraded' | 'down' | 'unknown'

/** What a document says of one monitor. A field and a key name it. */
export type EvaluatedChild = {
  fieldId: string
  key: string
  name: string
  /** the beginning of it, as text */
  value: string
  /** the same with its type */
  typed: ScalarValue
  outcome: ChildOutcome
  /** `services.api.status is "failing", expected "ok"` */
  reason: string
}

/** `keys`: how many could be children; `notes`: what a reader of the children would miss, in sentences. */
export type Evaluation = { children: EvaluatedChild[]; keys: number; notes: string[] }

/**
 * What a document, from its root on, means for a source's fields, in their order (decisions 9.2 to 9.4): the same children for the same
 * content, whatever order its keys stand in. Bounded in time by the document's size; never throws.
 */
export function evaluate(root: unknown, fields: readonly FieldDefinition[], now: Date, answers: UrlChecks): Evaluation {
  const notes: string[] = []
  const scene = { root, now, answers }
  const { places, keys } = collectMatches(root, fields, notes)
  return { children: places.map(place => evaluateChild(place, scene)), keys, notes }
}

/** The addresses to ask before that: the values of fields whose rule is `http_ok`, each once. */
export function listUrlsToCheck(root: unknown, fields: readonly FieldDefinition[]): string[] {
  const { places } = collectMatches(root, fields, [])
  const asking = places.filter(({ definition }) => definition.ruleType === 'http_ok')
  const urls = asking.flatMap(({ match }) => parseUrl(match.value) ?? [])
  return [...new Set(urls)]
}

const MAX_CHILDREN_NOTE = `a data source has at most ${MAX_CHILDREN} monitors, the first in the order of fields and keys`

const LONG_KEY_NOTE = `a key has at most ${MAX_KEY_CHARACTERS} characters`

/** Where a child stands, and how it is judged. */
type FieldMatch = { definition: FieldDefinition; key: string; field: CompiledField; match: PathMatch }

function collectMatches(root: unknown, fields: readonly FieldDefinition[], notes: string[]) {
  const places: FieldMatch[] = []
  let keys = 0
  const search = createSearch()
  for (const definition of fields) {
    const field = compileField(definition)
    if ('problems' in field) continue
    const found = collectFieldMatches(root, definition, field, MAX_CHILDREN - places.length, search)
    places.push(...found.places)
    keys += found.places.length + found.more
    if (found.more > 0) notes.push(`${definition.path} leads to more: ${MAX_CHILDREN_NOTE}`)
    else if (found.isTooLong) notes.push(`${definition.path} leads to keys that are left out: ${LONG_KEY_NOTE}`)
    else if (found.places.length === 0) notes.push(`${definition.path} leads to nothing in the document`)
  }
  if (search.isExhausted) notes.push('the document is too large for all of its keys to be looked at')
  return { places, keys }
}

/** `more`: how many keys there are beyond `most`. */
function collectFieldMatches(
  root: unknown,
  definition: FieldDefinition,
  field: CompiledField,
  most: number,
  search: PathSearch,
) {
  const places = new Map<string, FieldMatch>()
  let isTooLong = false
  let more = 0
  for (const match of findMatches(root, field.path, search)) {
    const key = toStorableText(match.key)
    if (key.length > MAX_KEY_CHARACTERS) isTooLong = true
    if (key.length > MAX_KEY_CHARACTERS || places.has(key)) continue
    if (places.size === most) more++
    else places.set(key, { definition, key, field, match })
  }
  return { places: [...places.values()], more, isTooLong }
}

function evaluateChild({ definition, key, field, match }: FieldMatch, scene: RuleContext): EvaluatedChild {
  const { outcome, said } = evaluateRule(field, match, scene)
  return {
    fieldId: definition.id,
    key,
    name: renderName(field.template, match),
    value: toLine(formatValue(match.value), MAX_VALUE_CHARACTERS),
    typed: toScalar(match.value, MAX_VALUE_CHARACTERS),
    outcome,
    reason: toLine(`${toLine(match.place, 200)} ${said}`, MAX_REASON_CHARACTERS),
  }
}

/** The rule holds: up; else its degraded form does: degraded; else down (decisions 9.3). */
function evaluateRule(
  { rule: judge, degradedRule: judgeDegraded }: CompiledField,
  match: PathMatch,
  scene: RuleContext,
): { outcome: ChildOutcome; said: string } {
  const { holds, message: said } = judge(match, scene)
  if (holds === null) return { outcome: 'unknown', said }
  if (holds) return { outcome: 'up', said }
  const isDegraded = judgeDegraded?.(match, scene).holds === true
  return isDegraded
    ? { outcome: 'degraded', said: `${said}; degraded_rule_config allows it` }
    : { outcome: 'down', said }
}
