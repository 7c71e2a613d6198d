import { type Answered, type Failed, readDocument } from './document.ts'
import { type Evaluation, evaluate, urlsToAsk } from './evaluate.ts'
import type { HttpAnswers } from './rule.ts'
import type { FieldDefinition } from './types.ts'

/** An answer, and what is to be read from it. `answers` null: addresses that it names have not been asked. */
export type Examination = {
  answer: Answered
  rootPath: string | null
  fields: readonly FieldDefinition[]
  now: Date
  answers: HttpAnswers | null
}

/** What a document says, why it says nothing, or which addresses have to be asked before. */
export type Examined = Failed | { evaluation: Evaluation } | { urls: string[] }

const NOT_ASKED: HttpAnswers = new Map()

export function examine({ answer, rootPath, fields, now, answers }: Examination): Examined {
  const read = readDocument(answer, rootPath)
  if ('failure' in read) return read
  const urls = answers === null && fields.some(asksAddresses) ? urlsToAsk(read.document, fields) : []
  if (urls.length > 0) return { urls }
  return { evaluation: evaluate(read.document, fields, now, answers ?? NOT_ASKED) }
}

const asksAddresses = ({ ruleType }: FieldDefinition) => ruleType === 'http_ok'
