import { type FailedFetch, parseDocument, type RawDocument } from '../document/document.ts'
import type { FieldDefinition } from '../types.ts'
import { type Evaluation, evaluate, listUrlsToCheck } from './evaluate.ts'
import type { UrlChecks } from './rule.ts'

/** An answer, and what is to be read from it. `answers` null: addresses that it names have not been asked. */
export type Examination = {
  answer: RawDocument
  rootPath: string | null
  fields: readonly FieldDefinition[]
  now: Date
  answers: UrlChecks | null
}

/** What a document says, why it says nothing, or which addresses have to be asked before. */
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
