import type { ComponentChildren } from 'preact'
import type { OperationError } from '../../core/operations.ts'
import type { Result } from '../../core/screen.ts'
import { Ago, Moment } from '../moment.tsx'

/** Where a part of a screen shows its data: skeleton, error, old data with an error, or the data. */
export function Loaded<T>({
  result,
  what,
  children,
}: {
  result: Result<T>
  /** what is missing, at the start of a sentence: `The checks` */
  what: string
  children(data: T): ComponentChildren
}) {
  if (result.data === null && !result.error) return <Skeleton />
  return (
    <>
      <Failure result={result} what={what} />
      {result.data !== null && children(result.data)}
    </>
  )
}

/** The error of a read whose data are left out when there are none; nothing without an error. */
export function Failure({ result: { data, error, atMs }, what }: { result: Result<unknown>; what: string }) {
  if (!error) return null
  return data === null ? <Missing what={what} error={error} /> : <Old what={what} error={error} atMs={atMs} />
}

/** Data that could not be read. */
export const Missing = ({ what, error }: { what: string; error: OperationError }) => (
  <p class="missing" role="status">
    {what} cannot be shown: {error.message}.
  </p>
)

/** Data that could not be read again. */
export const Old = ({ what, error, atMs }: { what: string; error: OperationError; atMs: number }) => (
  <p class="missing" role="status">
    {what} are from <Ago at={new Date(atMs).toISOString()} />: {error.message}.
  </p>
)

/** Says that statuses are old, because no process reads results. `since`: null or missing while all are read. */
export const Unread = ({ since }: { since: string | null | undefined }) =>
  since ? (
    <p class="missing" role="status">
      Results of checks have not been read since <Moment at={since} />: statuses are from then.
    </p>
  ) : null

const Skeleton = () => (
  <div class="skeleton" role="status">
    <span class="hidden">Loading</span>
  </div>
)

/** An empty list: one sentence, and what to do. */
export const Empty = ({ text, children }: { text: string; children?: ComponentChildren }) => (
  <div class="empty">
    <p>{text}</p>
    {children}
  </div>
)
