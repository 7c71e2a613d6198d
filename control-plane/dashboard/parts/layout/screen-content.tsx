import type { BoardSelection } from '../../core/board/board.ts'
import type { OperationError } from '../../core/operations.ts'
import type { Queries, Result, Results, Screen, ScreenLocation } from '../../core/screen.ts'
import { Old, Unread } from './states.tsx'

/** What a screen is rendered from. */
export type ShownScreen = {
  screen: Screen
  location: ScreenLocation
  results: Results<Queries>
  board: Result<BoardSelection>
}

/**
 * A screen, or the reason why it cannot be shown: its record is not there yet, does not exist, or cannot be read. A record
 * that was read before stays, with what is typed there.
 */
export function ScreenContent({ screen, location, results, board }: ShownScreen) {
  const record = screen.record ? results[screen.record] : null
  if (record?.data === null) return record.error ? <Unavailable error={record.error} /> : <Loading />
  return (
    <>
      {record?.error && <Old what="The data of this page" error={explain(record.error)} atMs={record.atMs} />}
      <Unread since={board.data?.unreadSince} />
      <screen.Body {...location} results={results} board={board} />
    </>
  )
}

const explain = (error: OperationError) =>
  error.status === 404 ? { ...error, message: 'the record was deleted, or you have no access any more' } : error

/** The title of the tab. */
export function buildTitle({ screen, location, results, board }: ShownScreen): string {
  const record = screen.record ? results[screen.record] : null
  const isThere = !record || record.data !== null
  return `${isThere ? screen.title({ ...location, results, board }) : findMissingTitle(record.error)} · Picket`
}

const findMissingTitle = (error: OperationError | null) =>
  error === null ? 'Loading' : error.status === 404 ? 'Page not found' : 'Not available'

/** The page of an address without a screen, or without its record. */
export const NotFound = () => (
  <div class="alone">
    <h1>Page not found</h1>
    <p>This page does not exist, its record was deleted, or it belongs to another organization.</p>
    <p>
      <a href="/">Overview</a>
    </p>
  </div>
)

const Unavailable = ({ error }: { error: OperationError }) =>
  error.status === 404 ? (
    <NotFound />
  ) : (
    <div class="alone">
      <h1>Not available</h1>
      <p role="alert">This page cannot be shown: {error.message}. The page tries again by itself.</p>
    </div>
  )

/** A page whose code or record is not there yet. */
export const Loading = () => (
  <div class="alone skeleton" role="status">
    <span class="hidden">Loading</span>
  </div>
)
