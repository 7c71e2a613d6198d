import { type OperationResponse, read } from './operations.ts'
import type { Results, Screen } from './screen.ts'

/** What every page reads, next to its own queries. */
export const FRAME_READS = {
  unalerted: read('listMonitors', { query: { alerted: false, paused: false, per_page: 1 } }),
}

export const UNALERTED_PATH = '/monitors/unalerted'

/**
 * How many active monitors have no alert channel, as the frame says on every page. 0 while it is not known, and on the page that lists
 * them.
 */
export function countUnalerted(
  screen: Pick<Screen, 'path'> | null | undefined,
  { unalerted }: Partial<Results<typeof FRAME_READS>>,
): number {
  const list: OperationResponse<'listMonitors'> | null = unalerted?.data ?? null
  return screen?.path === UNALERTED_PATH ? 0 : (list?.meta.total ?? 0)
}
