import { type FailedFetch, parseDocument, type RawDocument } from '../document/document.ts'
import { reduceDocument, type ShownDocument } from '../document/shown-document.ts'
import type { FieldDefinition } from '../types.ts'
import { type Evaluation, evaluate, listUrlsToCheck, MAX_CHILDREN } from './evaluate.ts'
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

const NO_URL_CHECKS: UrlChecks = new Map()
const NONE: ReadonlySet<string> = new Set()

export function examine({ answer, rootPath, fields, now, answers, known, isShown }: Examination): ExaminationResult {
  const read = parseDocument(answer, rootPath)
  if ('failure' in read) return read
  const isOverfull = (keys: number) => known === null && keys > MAX_CHILDREN
  if (answers === null && fields.some(checksUrls)) {
    const { urls, keys } = listUrlsToCheck(read.document, fields, known ?? NONE)
    if (isOverfull(keys)) return { needsKnown: true }
    if (urls.length > 0) return { urls }
  }
  const evaluation = evaluate(read.document, fields, now, answers ?? NO_URL_CHECKS, known ?? NONE)
  if (isOverfull(evaluation.keys)) return { needsKnown: true }
  return { evaluation, document: isShown ? reduceDocument(read.document) : null }
}

const checksUrls = ({ ruleType }: FieldDefinition) => ruleType === 'http_ok'
