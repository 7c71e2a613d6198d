/**
 * The cause of a rejected insert (docs/design/history.md#rejected-rows). A code that is in neither list may concern the
 * rows or the server; such rows are retried a few times.
 */
type InsertErrorKind = 'rows' | 'server' | 'unknown'

/** Values that ClickHouse cannot parse or convert. */
const ROW_ERROR_CODES = new Set(['6', '26', '27', '41', '53', '69', '117', '131', '321', '376', '441'])

/**
 * Overload, time limits, space, disks, replication, access, a missing schema, and errors without a specific code (1000
 * to 1002). Retrying can help, with any rows.
 */
const SERVER_ERROR_CODES = new Set(
  `16 47 60 62 74 75 76 81 107 115 159 160 164 172 173 192 193 194 195 198 201 202 203 204 205 206 207 209 210 218 225
   236 241 242 243 244 252 271 279 285 286 289 291 298 305 306 319 341 359 392 394 396 425 439 473 497 499 516 521
   546 574 586 594 597 630 665 667 668 673 693 710 999 1000 1001 1002`.split(/\s+/),
)

export function classifyInsertError({ code = '', message }: { code?: string; message: string }): InsertErrorKind {
  // one code for two errors: an insert over too many partitions (rows), and too many unmerged parts (server)
  if (code === '252' && message.includes('partitions')) return 'rows'
  if (ROW_ERROR_CODES.has(code)) return 'rows'
  return SERVER_ERROR_CODES.has(code) ? 'server' : 'unknown'
}

/** Attempts before a message is inserted alone, and before its rows are set aside for an unknown error. */
export const ATTEMPTS_BEFORE_ISOLATION = 3
/** The same for errors of the server. */
export const MAX_ATTEMPTS = 20
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000
/** More than a consumer delivers without acknowledgement; beyond this, the oldest entry is removed. */
const MAX_TRACKED_MESSAGES = 20_000

export type RetryTracker = ReturnType<typeof createRetryTracker>

/**
 * Counts by message key how often messages were rejected while others were accepted. While ClickHouse accepts nothing,
 * nothing is counted. Contains only messages that wait for redelivery.
 */
export function createRetryTracker() {
  const rejections = new Map<string, { count: number; accepted: number }>()
  let accepted = 0
  const getCount = (key: string) => rejections.get(key)?.count ?? 0
  return {
    getCount,
    accept(rows: number) {
      accepted += rows
    },
    refuse(key: string) {
      const known = rejections.get(key)
      if (known?.accepted === accepted) return
      if (!known && rejections.size >= MAX_TRACKED_MESSAGES) rejections.delete(rejections.keys().next().value!)
      rejections.set(key, { count: getCount(key) + 1, accepted })
    },
    forget(key: string) {
      rejections.delete(key)
    },
    /** The delay before the message is delivered again. */
    pauseMs: (key: string) =>
      Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** Math.max(0, getCount(key) - ATTEMPTS_BEFORE_ISOLATION)),
  }
}
