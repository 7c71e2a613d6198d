import type { CheckError, CheckStatus, Outcome, Trigger } from '../../../shared/checks/result.ts'

/** A monitor's status; null before the first verdict and after a resume. */
export type VerdictStatus = 'up' | 'down' | 'degraded' | null

/** The result of one region for a monitor. `pending` until its first decision: it has no vote. */
export type RegionState = 'pending' | 'ok' | 'degraded' | 'failing'

/**
 * One result as the verdict reads it. All times in ms; the scheduled time is on the clock of the control plane. The
 * state keeps the object, so it must not be changed afterwards.
 */
export type VerdictResult = {
  region: string
  probeId: string
  configVersion: number
  epoch: number
  scheduledAtMs: number
  /** 1 for the slot itself, 2 and up for its re-checks */
  attempt: number
  outcome: Outcome
  trigger: Trigger
  /** 0 if there was none */
  statusCode: number
  responseTimeMs: number
  error: CheckError | null
  /** true for a failure that many other hosts of the probe began to have at the same time */
  isDoubted?: true
  /** when a queued ping arrived; its `scheduledAtMs` may be later */
  arrivedAtMs?: number
}

/** The part of a monitor's configuration that the rules use. Immutable; replaced when the configuration changes. */
export type Policy = {
  configVersion: number
  /** the config version in which the target or the assertions changed last; streaks begin there */
  streaksSince: number
  /** never empty; the order is the customer's */
  regions: readonly string[]
  retryCount: number
  intervalMs: number
  /** at most the interval */
  timeoutMs: number
  /** false for a single source (heartbeats, data sources): its vote does not expire and no other probe can be asked */
  expires: boolean
  /** regions of the monitor that have, or recently had, no probe that can publish */
  absences?: RegionAbsences
  /** a probe of another region may be asked to confirm doubted failures */
  witness?: boolean
}

/** When a region had no probe that can publish, in JetStream time. `untilMs` is Infinity while it has none. */
export type RegionAbsence = { fromMs: number; untilMs: number }
/** The newest absence by region. */
export type RegionAbsences = ReadonlyMap<string, RegionAbsence>

/** The newest position in a region's results. Only results beyond it count. Often the object is a whole result. */
export type HighWaterMark = {
  configVersion: number
  epoch: number
  scheduledAtMs: number
  attempt: number
}

/** The check of another probe of the region while a failing streak grew. */
export type SecondOpinion = {
  probeId: string
  outcome: Outcome
  scheduledAtMs: number
  /** JetStream time */
  takenAtMs: number
  /** when it was requested again after it had prevented a decision; null before */
  renewalAskedAtMs: number | null
}

/** What is known of doubted failures of a region. */
export type RegionDoubt = {
  /** the slot of the first doubted failure */
  sinceMs: number
  /** the slot for which a witness was asked last */
  askedForMs: number | null
  /** the newest check by a probe of another region; JetStream time */
  witness: { check: VerdictResult; isWell: boolean; takenAtMs: number } | null
  /**
   * Why the vote counts: another region or a witness confirmed it, the probe is sure again, or the time limit passed.
   * null: the vote is held.
   */
  settledBy: 'region' | 'witness' | 'probe' | 'limit' | null
}

/** One monitor in one region. Stored as JSON. */
export type RegionTally = {
  region: string
  state: RegionState
  /** failed in a row */
  failures: number
  /** not up in a row, including failed ones */
  notUp: number
  /** better results in a row while failing or degraded */
  better: number
  fence: HighWaterMark
  /** JetStream time of the newest counting result; null before the first */
  votedAtMs: number | null
  /** the first failure of the current streak, or of the one that made the region failing: JetStream time and slot */
  firstFailure: { atMs: number; scheduledAtMs: number } | null
  /** the newest counting result, for explanations and events */
  last: VerdictResult | null
  secondOpinion: SecondOpinion | null
  /** missing where nothing is doubted */
  doubt?: RegionDoubt
}

/** Everything that the verdict knows about a monitor. Stored as JSON; times are JetStream times in ms. */
export type MonitorState = {
  monitorId: string
  /** config version of the policy by which the streaks were counted */
  configVersion: number
  status: VerdictStatus
  statusSinceMs: number | null
  /** from reaching `down` until reaching `up`; null outside an outage */
  outageSinceMs: number | null
  /** while down: since when no majority fails */
  noMajoritySinceMs: number | null
  /** since when fewer regions vote than a verdict needs, with at least one voting all the time */
  quorumLostSinceMs: number | null
  /** when other probes were last asked for a check */
  askedAtMs: number | null
  /**
   * Set when `status` is no longer shown, because no check has counted since `sinceMs`. The next verdict is compared
   * with `status`. `isTold`: the owner was notified. null: `status` is shown. Missing in rows of older versions.
   */
  unchecked: { sinceMs: number; isTold: boolean } | null
  /** after a restart without a checkpoint: votes older than this count as renewed at this time; null otherwise */
  restoredAtMs: number | null
  /** the regions of the monitor that have sent a result, in no order */
  cells: readonly RegionTally[]
}

export type HistoryReason =
  /** the monitor does not use the region */
  | 'region_not_watched'
  | 'older_config'
  | 'newer_config'
  | 'older_epoch'
  /** from older probes: a check on request while a chain ran */
  | 'outside_chain'
  /** a duplicate, or older than what was counted */
  | 'not_newer'

/** A request for checks without delay. It is a hint that may be lost. */
export type ImmediateCheckRequest = {
  reason: 'first_failure' | 'first_success' | 'disagreement' | 'doubt'
  /** the other regions of the monitor */
  regions: readonly string[]
  /** regions in which a probe other than this one is asked: that of the result, and those whose opinion is renewed */
  otherProbes: readonly { region: string; notProbeId: string }[]
  /** a probe of a region that is not the monitor's, for this configuration */
  witness?: { configVersion: number }
}

/** Two probes of one region contradicted each other on the attempt that would have made it failing. */
export type Disagreement = { region: string; probeId: string; otherProbeId: string }

/** `from` equals `to` when a monitor that was unchecked has its previous status again; this sends no notification. */
export type StatusTransition = {
  from: VerdictStatus
  to: 'up' | 'down' | 'degraded'
  atMs: number
  quorum: 'full' | 'reduced'
  /** start of the outage that continues or ends with this transition; null outside an outage */
  downSinceMs: number | null
  /** in ms; null unless this transition ends an outage */
  downDurationMs: number | null
  /** the voting regions that fail, in the order of the policy */
  failingRegions: readonly string[]
  /** the result to show with the event */
  check: VerdictResult
  explanation: Explanation
}

/**
 * When a new state has to be stored. `at_once`: with the result. `soon`: before the result is too old to be read again
 * after a restart. `no`: only high-water mark, vote time or last result moved; losing that changes no verdict.
 */
export type StoreTiming = 'at_once' | 'soon' | 'no'

export type Decision = {
  /** `out_of_band`: a check by another probe, outside the streak; `history` and `refused_future` never count */
  kind: 'counted' | 'out_of_band' | 'history' | 'refused_future'
  reason: HistoryReason | null
  /** the next state; the same object if nothing changed */
  state: MonitorState
  store: StoreTiming
  transition: StatusTransition | null
  ask: ImmediateCheckRequest | null
  /** the state to send to the probe: a new one, or the current one if its re-checks show that it has another */
  regionState: { region: string; state: RegionState } | null
  disagreement: Disagreement | null
}

export type ExplainedCheck = {
  status: CheckStatus
  status_code: number
  response_time_ms: number
  error: { source: 'none' | 'target' | 'resolver' | 'internal'; code: string; message: string } | null
  attempt: number
  scheduled_at: string
  probe_id: string
}

export type ExplainedVote = {
  region: string
  state: RegionState
  /** false: pending, without a result, or too old */
  votes: boolean
  age_seconds: number | null
  failed_in_a_row: number
  not_up_in_a_row: number
  better_in_a_row: number
  first_failure_at: string | null
  last_check: ExplainedCheck | null
  /** only if the region's failures were doubted */
  doubt?: { settled_by: RegionDoubt['settledBy']; witness: (ExplainedCheck & { region: string }) | null }
}

/** The value of a data source that decided, and the result of its rule. */
export type ExplainedValue = { field_id: string; key: string; rule: string; value: string; reason: string }

/** Why a status changed, as `GET /monitors/{id}/transitions` returns it. */
export type Explanation = {
  from: VerdictStatus
  to: 'up' | 'down' | 'degraded'
  at: string
  rule: 'majority_failing' | 'some_failing' | 'majority_degraded' | 'none_failing'
  quorum: {
    mode: 'full' | 'reduced'
    regions: number
    needed: number
    voting: number
    lost_since: string | null
    /** regions without a probe, which do not count for the quorum; missing if there are none */
    without_probe?: string[]
  }
  counts: { ok: number; degraded: number; failing: number; not_voting: number }
  thresholds: {
    failures_in_a_row: number
    better_in_a_row: number
    interval_seconds: number
    timeout_ms: number
    vote_lifetime_seconds: number | null
  }
  decided_by: ExplainedCheck & { region: string }
  votes: ExplainedVote[]
  /** only for a monitor that shows a value of a data source */
  data_source?: ExplainedValue
  timings: {
    first_failure_at: string | null
    others_asked_at: string | null
    no_majority_since: string | null
    outage_since: string | null
    outage_seconds: number | null
  }
}
