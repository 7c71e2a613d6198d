/** PostgreSQL's clock as this process knows it, also while PostgreSQL is not available. */
export type DatabaseTime = {
  /** PostgreSQL's time, in ms since 1970, was `databaseMs` at `monotonicMs` of this process */
  note(databaseMs: number, monotonicMs: number): void
  /** PostgreSQL's time at a moment of the monotonic clock; null before the first note */
  at(monotonicMs: number): number | null
}

/** The offset learned last, carried on by the monotonic clock. */
export function createDatabaseTime(): DatabaseTime {
  let offsetMs: number | null = null
  return {
    note(databaseMs, monotonicMs) {
      offsetMs = databaseMs - monotonicMs
    },
    at: monotonicMs => (offsetMs === null ? null : Math.floor(monotonicMs + offsetMs)),
  }
}
