/** What a click on a value of a document proposes. Pure. */
import { createSearch, findMatches, getValueAt } from '../../../../../integrations/data-sources/document/matches.ts'
import { type DocumentPath, formatPath, parsePath } from '../../../../../integrations/data-sources/document/path.ts'
import { type FieldProposal, isGoodWord, isPartlyWord, proposeRule, type RuleProposal } from './rule-proposal.ts'
import { type DocumentSteps, listKeys } from './tree-rows.ts'

/** One way to choose a value. `label`: `Every service`, `Only services.web.status`. `count`: how many monitors it makes. */
export type Candidate = { label: string; count: number; field: FieldProposal }

/** The maximum of monitors of a source. A path that matches more is proposed last. */
const MAX_MATCHES = 200

/**
 * Proposes fields for the value at a path: one for each level at which other entries have a value of the same type at the same place
 * ("every service"), and the value alone. The best is first. A problem: why no path can lead there.
 */
export function proposeFields(
  root: unknown,
  steps: DocumentSteps,
  nowMs: number,
): { candidates: Candidate[] } | { problem: string } {
  const parsed = parsePath(formatPath(steps))
  if ('problem' in parsed) return { problem: `The path of this value ${parsed.problem}.` }
  const value = getValueAt(root, steps)
  const general = listWildcards(root, steps, value)
  const chosen = general.map(path => {
    const values = listValues(root, path)
    return { label: describeWildcards(steps, path), path, values, isLarge: values.length > MAX_MATCHES }
  })
  const only = { label: `Only ${formatPath(steps)}`, path: steps as DocumentPath, values: [value], isLarge: false }
  // the words of the others say which word means up, also for this value alone
  const known = (chosen[0]?.values ?? []).filter(other => isGoodWord(other) || isPartlyWord(other))
  const ordered = [...chosen.filter(({ isLarge }) => !isLarge), only, ...chosen.filter(({ isLarge }) => isLarge)]
  return {
    candidates: ordered.map(({ label, path, values }) => {
      const key = toWords(steps.findLast(step => typeof step === 'string') ?? '')
      const rule = proposeRule({ value, others: path === steps ? [value, ...known] : values, key, nowMs })
      return { label, count: values.length, field: toField(path, steps, rule) }
    }),
  }
}

/** Paths with wildcards: all levels above the last one together, each of them, the last one. */
function listWildcards(root: unknown, steps: DocumentSteps, value: unknown): DocumentPath[] {
  const isUseful = (places: readonly number[]) => hasAlike(root, steps, places, value)
  const places = steps.map((_, i) => i).filter(i => isUseful([i]))
  const above = places.filter(i => i < steps.length - 1).slice(-4)
  const last = places.filter(i => i === steps.length - 1)
  const all = above.length > 1 && isUseful(above) ? [above] : []
  return [...all, ...above.map(i => [i]).reverse(), ...last.map(i => [i])].map(wildcards => hideSteps(steps, wildcards))
}

/**
 * Whether at least two entries, and half of them, have a value of the same type. Values that are the entries themselves must look alike,
 * because most objects have keys that mean different things.
 */
function hasAlike(root: unknown, steps: DocumentSteps, places: readonly number[], value: unknown): boolean {
  const values = listValues(root, hideSteps(steps, places))
  const alike = values.filter(other => other === null || typeof other === typeof value)
  const container = getValueAt(root, steps.slice(0, places[0]))
  const entries = listKeys(container).length
  if (alike.length < 2 || alike.length * 2 < entries) return false
  if (!places.includes(steps.length - 1) || Array.isArray(container)) return true
  return alike.length === values.length && lookAlike(value, values)
}

function lookAlike(value: unknown, values: readonly unknown[]): boolean {
  if (typeof value === 'string') return values.some(isGoodWord) || new Set(values).size < values.length
  return typeof value === 'boolean' || values.length >= 3
}

/** The path with wildcards at some places. */
const hideSteps = (steps: DocumentSteps, places: readonly number[]): DocumentPath =>
  steps.map((step, i) => (places.includes(i) ? null : step))

const listValues = (root: unknown, path: DocumentPath): unknown[] =>
  [...findMatches(root, path, createSearch())].map(match => match.value)

/** `Every service`, `Every service of every region`; `Every entry` at the top of the document. */
function describeWildcards(steps: DocumentSteps, path: DocumentPath): string {
  const nouns = path.flatMap((step, i) => (step === null ? [toNoun(steps[i - 1])] : [])).reverse()
  return `Every ${nouns.join(' of every ')}`
}

/** `services` → `service`; a key that is not a word, an index and the document are `entry`. */
function toNoun(step: string | number | undefined): string {
  if (typeof step !== 'string' || !/^[A-Za-z][A-Za-z_ -]{1,30}$/.test(step)) return 'entry'
  const words = toWords(step).toLowerCase()
  if (/(ss|us|is)$/.test(words)) return words
  if (words.endsWith('ies')) return `${words.slice(0, -3)}y`
  if (/(xes|ches|shes|sses)$/.test(words)) return words.slice(0, -2)
  return words.endsWith('s') ? words.slice(0, -1) : `${words} entry`
}

/** `lastBackup_at` → `last backup at` */
const toWords = (step: string): string =>
  step
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()

/** Last steps that say nothing about what is monitored. */
const VAGUE = /^(status|state|health|healthy|is ?healthy|ok|up|is ?up|value|result|indicator|condition|alive|online)$/i

function toField(path: DocumentPath, steps: DocumentSteps, rule: RuleProposal): FieldProposal {
  return { path: formatWildcards(path, steps), name_template: proposeName(path, steps), ...rule }
}

/** `services.*.status` for the keys of an object, `checks[*].ok` for the elements of a list. */
function formatWildcards(path: DocumentPath, steps: DocumentSteps): string {
  const parts = path.map((step, i) => {
    if (step === null && typeof steps[i] === 'string') return i === 0 ? '*' : '.*'
    return i === 0 ? formatPath([step]) : formatPath(['a', step]).slice(1)
  })
  return parts.join('') || '$'
}

/** `{{key}}`, `{{key}} latency`, `Service {{key}}` for elements of a list, `queue size` for one value. */
function proposeName(path: DocumentPath, steps: DocumentSteps): string {
  const wildcards = path.flatMap((step, i) => (step === null ? [i] : []))
  const lastStep = steps.at(-1)
  const isVague = typeof lastStep !== 'string' || VAGUE.test(toWords(lastStep))
  const tail = path.at(-1) === null || isVague ? '' : ` ${toWords(lastStep as string)}`
  if (wildcards.length === 0) return cleanName(nameValue(steps)).trim() || '{{key}}'
  const keys = wildcards.map((at, n) => {
    const placeholder = wildcards.length === 1 ? '{{key}}' : `{{key.${n + 1}}}`
    if (typeof steps[at] === 'string') return placeholder
    const noun = toNoun(steps[at - 1])
    return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${placeholder}`
  })
  return `${keys.join(' ')}${cleanName(tail)}`.slice(0, 200)
}

/** The name of one value: its key and the nearest key above that says something. */
function nameValue(steps: DocumentSteps): string {
  const words = steps.filter(step => typeof step === 'string').map(toWords)
  const own = words.at(-1) ?? 'Document'
  const above = words.slice(0, -1).findLast(word => !VAGUE.test(word))
  if (typeof steps.at(-1) === 'number') return `${own} ${steps.at(-1)}`
  if (above === undefined) return own
  return VAGUE.test(own) ? above : `${above} ${own}`
}

/** Braces are not allowed in a name, except for placeholders. */
const cleanName = (text: string): string => text.replace(/[{}]/g, '').slice(0, 100)
