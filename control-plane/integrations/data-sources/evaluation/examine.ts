import { type FailedFetch, parseDocument, type RawDocument } from '../document/document.ts'
import { reduceDocument, type ShownDocument } from '../document/shown-document.ts'
import type { FieldDefinition } from '../types.ts'
import { type Evaluation, evaluate, listUrlsToCheck } from './evaluate.ts'
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
  isShown: boolean
}

/** `document`: null unless it is shown. */
export type DocumentExamination = { evaluation: Evaluation; document: ShownDocument | null }

/** The evaluation, why there is none, or the URLs to request first. */
export type ExaminationResult = FailedFetch | DocumentExamination | { urls: string[] }

const NO_URL_CHECKS: UrlChecks = new Map()

export function examine({ answer, rootPath, fields, now, answers, isShown }: Examination): ExaminationResult {
  const read = parseDocument(answer, rootPath)
  if ('failure' in read) return read
  const urls = answers === null && fields.some(checksUrls) ? listUrlsToCheck(read.document, fields) : []
  if (urls.length > 0) return { urls }
  const evaluation = evaluate(read.document, fields, now, answers ?? NO_URL_CHECKS)
  return { evaluation, document: isShown ? reduceDocument(read.document) : null }
}

const checksUrls = ({ ruleType }: FieldDefinition) => ruleType === 'http_ok'
