/** The times of decisions 11.1, in milliseconds. Tests shorten them. */
export type FleetTiming = {
  heartbeatIntervalMs: number
  /** no message for so long: the session is dead, and its probe leaves the live set */
  deadAfterMs: number
  /** a probe that came back has to stay connected for so long before it gets work */
  steadyAfterMs: number
  /** how often sessions, live sets and epochs are looked at */
  roundIntervalMs: number
  /** how often changes of monitors are looked for without a notification; of epochs a fifth as often, because live sets are read too */
  monitorPollIntervalMs: number
  /** how long a probe's credentials for NATS are good; they are renewed after half of it */
  credentialsLifetimeMs: number
  /** a connection without a call is closed after so long */
  firstCallTimeoutMs: number
}

export const FLEET_TIMING: FleetTiming = {
  heartbeatIntervalMs: 3_000,
  deadAfterMs: 10_000,
  steadyAfterMs: 60_000,
  roundIntervalMs: 1_000,
  monitorPollIntervalMs: 2_000,
  credentialsLifetimeMs: 3_600_000,
  firstCallTimeoutMs: 20_000,
}
