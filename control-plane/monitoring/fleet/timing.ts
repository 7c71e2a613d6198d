/** The times of docs/design/assignments.md, in milliseconds. Tests shorten them. */
export type FleetTiming = {
  heartbeatIntervalMs: number
  /** a session without a message for this long is closed, and its probe leaves the live set */
  deadAfterMs: number
  /** a probe that reconnects gets work after it has stayed connected for this long */
  steadyAfterMs: number
  /** how often sessions, live sets and epochs are checked */
  roundIntervalMs: number
  /** how often rounds look for changes of monitors without a notification; monitors and epochs are read in any case, 15 times more rarely */
  monitorPollIntervalMs: number
  /** how long a probe's NATS credentials are valid; they are renewed after half of it */
  credentialsLifetimeMs: number
  /** a connection without a call is closed after this time */
  firstCallTimeoutMs: number
}

/** For this long a revoked probe may have valid credentials of NATS: those that were signed earlier have expired. */
export const computeRevokedWithinMs = ({ credentialsLifetimeMs }: FleetTiming): number => 2 * credentialsLifetimeMs

export const FLEET_TIMING: FleetTiming = {
  heartbeatIntervalMs: 3_000,
  deadAfterMs: 10_000,
  steadyAfterMs: 60_000,
  roundIntervalMs: 1_000,
  monitorPollIntervalMs: 2_000,
  credentialsLifetimeMs: 3_600_000,
  firstCallTimeoutMs: 20_000,
}
