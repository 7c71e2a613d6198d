import type { OperationError } from '../../core/operations.ts'

/** A problem of one field, as the API reports it: `{ path: 'assertions[0].value', message }`. */
export type FieldProblem = { path: string; message: string }

/** What a form knows about the last attempt to send it. */
export type FormErrors = {
  /** the sentences about exactly this field */
  at(path: string): string[]
  /** whether there is a problem of one of these fields or of a part of them */
  isBelow(paths: readonly string[]): boolean
  /** distinguishes the ids of its fields from those of other forms of the page, which can have fields with the same path */
  scope: string
}

const isPart = (path: string, whole: string) =>
  path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`)

export function buildFormErrors(problems: readonly FieldProblem[], scope = ''): FormErrors {
  return {
    scope,
    at: path => problems.filter(problem => problem.path === path).map(({ message }) => message),
    isBelow: paths => problems.some(({ path }) => paths.some(whole => isPart(path, whole))),
  }
}

/** An error that was found before anything was sent. It looks like one of the API. */
export const toFormError = (details: FieldProblem[]): OperationError | null =>
  details.length === 0
    ? null
    : { status: 400, code: 'validation_error', message: details.map(({ message }) => message).join('; '), details }

/** The sentences that no field shows: everything except the problems of the fields `shown`. */
export function listOtherMessages(error: OperationError, shown: readonly string[]): string[] {
  const { details = [], message } = error
  if (details.length === 0) return [message]
  return details.filter(({ path }) => !shown.some(whole => isPart(path, whole))).map(one => one.message)
}
