import { type FailedFetch, parseDocument, type RawDocument } from '../document/document.ts'
import type { FieldDefinition } from '../types.ts'
import { type Evaluation, evaluate, listUrlsToCheck } from './evaluate.ts'
import type { UrlChecks } from './rule.ts'

/** A response, and how to evaluate it. `answers` is null when its URLs have not been requested. */
export type Examination = {
  answer: RawDocument
  rootPath: string | null
  fields: readonly FieldDefinition[]
  now: Date
  answers: UrlChecks | null
}

/** The evaluation, why there is none, or the URLs to request first. */
export type ExaminationResult = FailedFetch | { evaluation: Evaluation } | { urls: string[] }

const NO_URL_CHECKS: UrlChecks = new Map()

export function examine({ answer, rootPath, fields, now, answers }: Examination): ExaminationResult {
  const read = parseDocument(answer, rootPath)
  if ('failure' in read) return read
  const urls = answers === null && fields.some(checksUrls) ? listUrlsToCheck(read.document, fields) : []
  if (urls.length > 0) return { urls }
  return { evaluation: evaluate(read.document, fields, now, answers ?? NO_URL_CHECKS) }
}

const checksUrls = ({ ruleType }: FieldDefinition) => ruleType === 'http_ok'
