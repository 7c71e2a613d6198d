import { type ReadyField, readField } from './field.ts'
import { type Match, matchesOf, newSearch, type Search } from './matches.ts'
import { renderName } from './name-template.ts'
import type { HttpAnswers, Scene } from './rule.ts'
import { urlOf } from './rules.ts'
import { lineOf, storable, type Typed, textOf, typedOf } from './text.ts'
import type { FieldDefinition } from './types.ts'

/** At most so many monitors a source (decisions 9.4). */
export const MOST_CHILDREN = 200
const MOST_KEY_CHARACTERS = 200
const MOST_VALUE_CHARACTERS = 200
const MOST_REASON_CHARACTERS = 500

export type Outcome = 'up' | 'degraded' | 'down' | 'unknown'

/** What a document says of one monitor. A field and a key name it. */
export type Child = {
  fieldId: string
  key: string
  name: string
  /** the beginning of it, as text */
  value: string
  /** the same with its type */
  typed: Typed
  outcome: Outcome
  /** `services.api.status is "failing", expected "ok"` */
  reason: string
}

/** `keys`: how many could be children; `notes`: what a reader of the children would miss, in sentences. */
export type Evaluation = { children: Child[]; keys: number; notes: string[] }

/**
 * What a document, from its root on, means for a source's fields, in their order (decisions 9.2 to 9.4): the same children for the same
 * content, whatever order its keys stand in. Bounded in time by the document's size; never throws.
 */
export function evaluate(
  root: unknown,
  fields: readonly FieldDefinition[],
  now: Date,
  answers: HttpAnswers,
): Evaluation {
  const notes: string[] = []
  const scene = { root, now, answers }
  const { places, keys } = placesOf(root, fields, notes)
  return { children: places.map(place => childOf(place, scene)), keys, notes }
}

/** The addresses to ask before that: the values of fields whose rule is `http_ok`, each once. */
export function urlsToAsk(root: unknown, fields: readonly FieldDefinition[]): string[] {
  const { places } = placesOf(root, fields, [])
  const asking = places.filter(({ definition }) => definition.ruleType === 'http_ok')
  const urls = asking.flatMap(({ match }) => urlOf(match.value) ?? [])
  return [...new Set(urls)]
}

const LIMIT = `a data source has at most ${MOST_CHILDREN} monitors, the first in the order of fields and keys`

const LONG = `a key has at most ${MOST_KEY_CHARACTERS} characters`

/** Where a child stands, and how it is judged. */
type Place = { definition: FieldDefinition; key: string; field: ReadyField; match: Match }

function placesOf(root: unknown, fields: readonly FieldDefinition[], notes: string[]) {
  const places: Place[] = []
  let keys = 0
  const search = newSearch()
  for (const definition of fields) {
    const field = readField(definition)
    if ('problems' in field) continue
    const found = placesOfField(root, definition, field, MOST_CHILDREN - places.length, search)
    places.push(...found.places)
    keys += found.places.length + found.more
    if (found.more > 0) notes.push(`${definition.path} leads to more: ${LIMIT}`)
    else if (found.isTooLong) notes.push(`${definition.path} leads to keys that are left out: ${LONG}`)
    else if (found.places.length === 0) notes.push(`${definition.path} leads to nothing in the document`)
  }
  if (search.isSpent) notes.push('the document is too large for all of its keys to be looked at')
  return { places, keys }
}

/** `more`: how many keys there are beyond `most`. */
function placesOfField(root: unknown, definition: FieldDefinition, field: ReadyField, most: number, search: Search) {
  const places = new Map<string, Place>()
  let isTooLong = false
  let more = 0
  for (const match of matchesOf(root, field.path, search)) {
    const key = storable(match.key)
    if (key.length > MOST_KEY_CHARACTERS) isTooLong = true
    if (key.length > MOST_KEY_CHARACTERS || places.has(key)) continue
    if (places.size === most) more++
    else places.set(key, { definition, key, field, match })
  }
  return { places: [...places.values()], more, isTooLong }
}

function childOf({ definition, key, field, match }: Place, scene: Scene): Child {
  const { outcome, said } = judge(field, match, scene)
  return {
    fieldId: definition.id,
    key,
    name: renderName(field.template, match),
    value: lineOf(textOf(match.value), MOST_VALUE_CHARACTERS),
    typed: typedOf(match.value, MOST_VALUE_CHARACTERS),
    outcome,
    reason: lineOf(`${lineOf(match.place, 200)} ${said}`, MOST_REASON_CHARACTERS),
  }
}

/** The rule holds: up; else its degraded form does: degraded; else down (decisions 9.3). */
function judge({ judge, judgeDegraded }: ReadyField, match: Match, scene: Scene): { outcome: Outcome; said: string } {
  const { holds, said } = judge(match, scene)
  if (holds === null) return { outcome: 'unknown', said }
  if (holds) return { outcome: 'up', said }
  const isDegraded = judgeDegraded?.(match, scene).holds === true
  return isDegraded
    ? { outcome: 'degraded', said: `${said}; degraded_rule_config allows it` }
    : { outcome: 'down', said }
}
