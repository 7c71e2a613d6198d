import { type FailedFetch, parseDocument, type RawDocument } from '../document/document.ts'
import { reduceDocument, type ShownDocument } from '../document/shown-document.ts'
import type { FieldDefinition } from '../types.ts'
import { collectMatches, type Evaluation, evaluate, listUrlsToCheck, MAX_CHILDREN } from './evaluate.ts'
import type { UrlChecks } from './rule.ts'

/**
 * A response, and how to evaluate it. `answers` is null when its URLs have not been requested. `isShown`: the document is returned
 * too, for a person.
 */
export type Examination = {
  answer: RawDocument
  rootPath: string | null
  fields: readonly FieldDefinition[]
  now: Date
  answers: UrlChecks | null
  /** the children that the source has (formatChildKey); null: not read yet, because few documents have too many keys */
  known: ReadonlySet<string> | null
  isShown: boolean
}

/** `document`: null unless it is shown. */
export type DocumentExamination = { evaluation: Evaluation; document: ShownDocument | null }

/** The evaluation, why there is none, or what it needs: the URLs to request, or the known children of too many keys. */
export type ExaminationResult = FailedFetch | DocumentExamination | { urls: string[] } | { needsKnown: true }

const MAX_QUICK_WORK = 32_768

/**
 * Whether an examination may run on the main thread: it takes 40 ms of processor time with the worst document known. Every field
 * may search the whole document, and its rule may compare its whole configuration.
 */
export function isQuicklyExamined({ answer, fields }: Pick<Examination, 'answer' | 'fields'>): boolean {
  const bytes = answer.body?.length ?? 0
  const searched = bytes * Math.max(1, fields.length)
  if (searched > MAX_QUICK_WORK) return false
  const config = fields.map(({ ruleConfig, degradedRuleConfig }) => [ruleConfig, degradedRuleConfig])
  return searched + JSON.stringify(config).length <= MAX_QUICK_WORK
}

const NO_URL_CHECKS: UrlChecks = new Map()
const NONE: ReadonlySet<string> = new Set()

export function examine({ answer, rootPath, fields, now, answers, known, isShown }: Examination): ExaminationResult {
  const read = parseDocument(answer, rootPath)
  if ('failure' in read) return read
  const collected = collectMatches(read.document, fields, known ?? NONE)
  if (known === null && collected.keys > MAX_CHILDREN) return { needsKnown: true }
  const urls = answers === null ? listUrlsToCheck(collected) : []
  if (urls.length > 0) return { urls }
  const evaluation = evaluate(read.document, collected, now, answers ?? NO_URL_CHECKS)
  return { evaluation, document: isShown ? reduceDocument(read.document) : null }
}
