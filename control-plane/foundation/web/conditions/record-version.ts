import { validationError } from '../server/errors.ts'

/** A kind of record whose settings have a version, the `ETag` of its answers (docs/design/conditional-requests.md). */
export type RecordVersion = {
  /** for messages: `monitor` */
  noun: string
  table: string
  /** columns that change without a change of the settings, besides `updated_at` */
  ignored?: readonly string[]
  /** SQL of settings in other tables, for the row `record` */
  related?: string
  /** SQL condition for the rows of the project; default: by `project_id`. May use `:projectId` and `:parentId` */
  scope?: string
  /** SQL that locks another row, which every change of the record locks; default: the row of the record */
  lock?: string
  /** the action calls `assertRequestVersion`, because it must lock other rows before this one; default: at the start of the transaction */
  isCheckedByAction?: boolean
}

/** Names one record of a kind. `parentId`: the record in whose path it is, otherwise its own id. */
export type RecordKey = { projectId: string; id: string; parentId: string }

/** The version of the record of a request: what it asks for, and what is known after its transaction. */
export type RequestVersion = {
  record: RecordVersion
  /** null: a create */
  key: RecordKey | null
  /** the request deletes the record */
  isDeletion: boolean
  /** the tags of `If-Match`; null: it has none, or every version is accepted */
  accepted: readonly string[] | null
  /** a transaction that checked it was committed */
  isPassed: boolean
  /** the tag of the answer; null: there is none */
  tag: string | null
  /** an id before those that a create makes */
  since: string
  /** the tags of the records that were created, by id */
  created: ReadonlyMap<string, string>
}

const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** The tags of an `If-Match`; null for `*`, which accepts every version. Throws 400 for another value. */
export function parseIfMatch(header: string): string[] | null {
  const text = header.trim()
  if (text === '*') return null
  // a list may have empty elements, and a tag may contain a comma
  const tags = (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map(tag => tag.trim()).filter(tag => tag !== '')
  if (tags.length > 0 && tags.every(tag => TAG.test(tag))) return tags
  throw ifMatchError('If-Match must be * or tags in double quotes, separated by commas, as ETag of an answer has them')
}

/** 400 for a request that changes something and whose route has no versions. */
export const unsupportedIfMatch = (method: string, path: string) =>
  ifMatchError(`${method} ${path} does not accept If-Match; PUT and DELETE of records whose GET has an ETag do`)

const ifMatchError = (message: string) => validationError([{ path: 'If-Match', message }])
