/** How long work of the API may wait and take, in ms. Tests that do not depend on these times make them longer. */
export type ApiTimeLimits = {
  /** the wait of a request for other requests of its project */
  requestWaitMs: number
  /** the wait of an import or bulk create for others */
  heavyWriteWaitMs: number
  /** the wait for a connection to PostgreSQL */
  acquireMs: number
  /** a statement */
  statementMs: number
  /** the wait of a statement for a lock */
  lockMs: number
  /** all reads of the history by a request, the wait for their turn included */
  historyMs: number
}

export const API_TIME_LIMITS: ApiTimeLimits = {
  requestWaitMs: 10_000,
  heavyWriteWaitMs: 20_000,
  acquireMs: 10_000,
  statementMs: 15_000,
  lockMs: 5_000,
  historyMs: 15_000,
}
