import { type Clickhouse, type ClickhouseShare, readAs } from '../../foundation/platform/clickhouse.ts'

/** The history may be slow or unreachable; an answer about a verdict does not wait for it. */
const HISTORY_TIMEOUT_MS = 3_000

/** What the history answers to a request of a project; null while it cannot be read. `gone`: the caller has gone. */
export const readHistory = <T>(
  clickhouse: Clickhouse,
  { projectId, gone }: { projectId: string; gone: AbortSignal },
  work: (reads: ClickhouseShare) => Promise<T>,
): Promise<T | null> =>
  readAs(clickhouse, { key: projectId, timeoutMs: HISTORY_TIMEOUT_MS, signal: gone }, work).catch(() => null)
