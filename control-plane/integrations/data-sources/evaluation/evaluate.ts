import { toStorableText } from '../../../../shared/storable-text.ts'
import {
  createSearch,
  findMatches,
  formatPlace,
  MAX_KEY_CHARACTERS,
  type PathMatch,
  type PathSearch,
} from '../document/matches.ts'
import { formatValue, type ScalarValue, toLine, toScalar } from '../document/text.ts'
import type { FieldDefinition } from '../types.ts'
import { type CompiledField, compileField } from './compiled-field.ts'
import { renderName } from './name-template.ts'
import type { RuleContext, UrlChecks } from './rule.ts'
import { parseUrl } from './rules.ts'

/** Maximum number of monitors of a source (docs/design/data-sources.md#children). */
export const MAX_CHILDREN = 200
const MAX_VALUE_CHARACTERS = 200
const MAX_REASON_CHARACTERS = 500

export type ChildOutcome = 'up' | 'degraded' | 'down' | 'unknown'

/** The evaluation of one child, which is identified by its field and key. */
export type EvaluatedChild = {
  fieldId: string
  key: string
  name: string
  /** the beginning of the value, as text */
  value: string
  /** the same with its type */
  typed: ScalarValue
  outcome: ChildOutcome
  /** `services.api.status is "failing", expected "ok"` */
  reason: string
}

/** What identifies a child of a source. */
export type ChildKey = { fieldId: string | null; key: string }
export const formatChildKey = ({ fieldId, key }: ChildKey): string => `${fieldId} ${key}`

export type Evaluation = Pick<CollectedMatches, 'keys' | 'notes'> & { children: EvaluatedChild[] }

/**
 * Evaluates the matches of a document. The same content gives the same children, whatever the order of its keys. The time is
 * bounded by the size of the document. Never throws.
 */
export function evaluate(
  root: unknown,
  { matches, keys, notes }: CollectedMatches,
  now: Date,
  urlChecks: UrlChecks,
): Evaluation {
  const context = { root, now, urlChecks }
  return { children: matches.map(match => evaluateChild(match, context)), keys, notes }
}

/** Returns the URLs to request before the evaluation: the values of fields whose rule is `http_ok`, each once. */
export function listUrlsToCheck({ matches }: CollectedMatches): string[] {
  const urlMatches = matches.filter(({ definition }) => definition.ruleType === 'http_ok')
  return [...new Set(urlMatches.flatMap(({ match }) => parseUrl(match.value) ?? []))]
}

type KnownKeys = ReadonlySet<string>
const NONE: KnownKeys = new Set()

const MAX_CHILDREN_NOTE = `a data source can have at most ${MAX_CHILDREN} monitors, those that it has and then the first in the order of fields and keys`

const LONG_KEY_NOTE = `a key can have at most ${MAX_KEY_CHARACTERS} characters`

/** A match in the document, with the field that evaluates it. `isKnown`: the source already has this child. */
type FieldMatch = { definition: FieldDefinition; key: string; isKnown: boolean; field: CompiledField; match: PathMatch }

/** `keys`: the number of keys that could be children. `notes`: sentences about paths without a match and limits that apply. */
type CollectedMatches = { matches: FieldMatch[]; keys: number; notes: string[] }

/**
 * Collects the matches of fields that become children, in the order of fields. `known`: the children that the source already
 * has (formatChildKey), which come first when the document has more keys than there may be children.
 */
export function collectMatches(
  root: unknown,
  fields: readonly FieldDefinition[],
  known: KnownKeys = NONE,
): CollectedMatches {
  const notes: string[] = []
  const search = createSearch()
  const found = fields.flatMap(definition => {
    const field = compileField(definition)
    return 'problems' in field ? [] : { definition, ...collectFieldMatches(root, { definition, field, known }, search) }
  })
  const candidates = found.flatMap(({ matches }) => matches)
  let free = MAX_CHILDREN - candidates.filter(({ isKnown }) => isKnown).length
  const chosen = new Set(candidates.filter(({ isKnown }) => isKnown || free-- > 0))
  for (const { definition, matches, keys, isTooLong } of found) {
    if (keys > matches.filter(match => chosen.has(match)).length)
      notes.push(`${definition.path} matches more keys: ${MAX_CHILDREN_NOTE}`)
    else if (isTooLong) notes.push(`${definition.path} matches keys that are left out: ${LONG_KEY_NOTE}`)
    else if (keys === 0) notes.push(`${definition.path} matches nothing in the document`)
  }
  if (search.isExhausted) notes.push('the document is too large; some of its keys were not examined')
  return { matches: [...chosen], keys: found.reduce((sum, { keys }) => sum + keys, 0), notes }
}

type CollectedField = { definition: FieldDefinition; field: CompiledField; known: KnownKeys }

/** The known matches of a field and the first others, at most MAX_CHILDREN. `keys`: the number of all. */
function collectFieldMatches(root: unknown, { definition, field, known }: CollectedField, search: PathSearch) {
  const matches = new Map<string, FieldMatch>()
  const longKeys = search.longKeys
  let isTooLong = false
  let [others, excess] = [0, 0]
  for (const match of findMatches(root, field.path, search)) {
    if (match.key.length > MAX_KEY_CHARACTERS) {
      isTooLong = true
      continue
    }
    const key = toStorableText(match.key)
    if (matches.has(key)) continue
    const isKnown = known.has(formatChildKey({ fieldId: definition.id, key }))
    if (!isKnown && others === MAX_CHILDREN) excess++
    else matches.set(key, { definition, key, isKnown, field, match })
    if (!isKnown && others < MAX_CHILDREN) others++
  }
  isTooLong ||= search.longKeys > longKeys
  return { matches: [...matches.values()], keys: matches.size + excess, isTooLong }
}

function evaluateChild({ definition, key, field, match }: FieldMatch, context: RuleContext): EvaluatedChild {
  const { outcome, message } = evaluateRule(field, match, context)
  return {
    fieldId: definition.id,
    key,
    name: renderName(field.template, match),
    value: toLine(formatValue(match.value), MAX_VALUE_CHARACTERS),
    typed: toScalar(match.value, MAX_VALUE_CHARACTERS),
    outcome,
    reason: toLine(`${toLine(formatPlace(match), 200)} ${message}`, MAX_REASON_CHARACTERS),
  }
}

/** Up when the rule holds, degraded when it holds with the degraded configuration, else down. */
function evaluateRule(
  { rule, degradedRule }: CompiledField,
  match: PathMatch,
  context: RuleContext,
): { outcome: ChildOutcome; message: string } {
  const { holds, message } = rule(match, context)
  if (holds === null) return { outcome: 'unknown', message }
  if (holds) return { outcome: 'up', message }
  const isDegraded = degradedRule?.(match, context).holds === true
  return isDegraded
    ? { outcome: 'degraded', message: `${message}; it counts as degraded` }
    : { outcome: 'down', message }
}
