import type { CheckError, CheckStatus, Outcome, Trigger } from '../../../shared/checks/result.ts'

/** A monitor's status; null before the first verdict and after a resume. */
export type VerdictStatus = 'up' | 'down' | 'degraded' | null

/** What one region says of a monitor. `pending` until its first decision: it has no vote (decisions 4.4). */
export type RegionState = 'pending' | 'ok' | 'degraded' | 'failing'

/**
 * One result as the verdict reads it. All times in ms; the scheduled time is on the control plane's clock.
 * `error` may be the decoded message itself. The object is kept in the state: never change it afterwards.
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
  /** 0 where there was none */
  statusCode: number
  responseTimeMs: number
  error: CheckError | null
  /** a failure that many other hosts of the probe began to have at the same time (decision 197) */
  isDoubted?: true
}

/** What decides about a monitor, from its configuration. Immutable; made anew when the configuration changes. */
export type Policy = {
  configVersion: number
  /** the config version in which target or assertions changed last: results in a row count from there on */
  streaksSince: number
  /** never empty; the order is the customer's */
  regions: readonly string[]
  retryCount: number
  intervalMs: number
  /** already cut to the interval */
  timeoutMs: number
  /** false: no probe votes, so a vote never grows old and nobody else can be asked (heartbeats and children of data sources, decisions 4.9) */
  expires: boolean
  /** regions of the monitor that have, or lately had, no probe that can publish (decision 195) */
  absences?: RegionAbsences
  /** a probe of another region may be asked to confirm doubted failures (decision 197) */
  witness?: boolean
}

/** When a region had no probe that can publish, in JetStream's time; `untilMs` Infinity: it has none now. */
export type RegionAbsence = { fromMs: number; untilMs: number }
/** The newest absence by region. */
export type RegionAbsences = ReadonlyMap<string, RegionAbsence>

/** The newest place seen of a region's results; only what lies beyond it counts (decisions 4.6). Often a whole result. */
export type HighWaterMark = {
  configVersion: number
  epoch: number
  scheduledAtMs: number
  attempt: number
}

/** What another probe of the region said while a failing streak grew (decisions 4.5). */
export type SecondOpinion = {
  probeId: string
  outcome: Outcome
  scheduledAtMs: number
  /** JetStream time */
  takenAtMs: number
  /** when it was asked for anew after it had stopped a decision; null before */
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
  /** why the vote counts: another region or a witness confirmed it, the probe is sure again, or it was waited for long enough; null: it waits */
  settledBy: 'region' | 'witness' | 'probe' | 'limit' | null
}

/** One monitor in one region. JSON throughout. */
export type RegionTally = {
  region: string
  state: RegionState
  /** failed in a row */
  failures: number
  /** not up in a row, failed ones included */
  notUp: number
  /** better results in a row while failing or degraded */
  better: number
  fence: HighWaterMark
  /** JetStream time of the newest counting result; null before the first */
  votedAtMs: number | null
  /** the first failure of the streak that grows or that made the region failing: JetStream time and slot */
  firstFailure: { atMs: number; scheduledAtMs: number } | null
  /** the newest counting result, for explanations and events */
  last: VerdictResult | null
  secondOpinion: SecondOpinion | null
  /** left out where nothing is doubted */
  doubt?: RegionDoubt
}

/** Everything the verdict knows of a monitor. JSON throughout; times are JetStream times in ms. */
export type MonitorState = {
  monitorId: string
  /** of the policy that the streaks were counted by */
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
   * `status` is not shown any more, because no check has counted since `sinceMs` (decision 196); it is what the next verdict is
   * compared with. `isTold`: the owner was notified. null: it is shown. Missing in rows of older versions.
   */
  unchecked: { sinceMs: number; isTold: boolean } | null
  /** after a restart without a checkpoint: older votes count as seen then (decision 190); null: each is as old as it is */
  restoredAtMs: number | null
  /** the regions that have been heard of and belong to the monitor, in no order */
  cells: readonly RegionTally[]
}

export type HistoryReason =
  | 'region_not_watched'
  | 'older_config'
  | 'newer_config'
  | 'older_epoch'
  /** somebody asked while a chain ran */
  | 'beside_a_chain'
  /** a duplicate, or older than what was counted */
  | 'not_newer'

/** A check asked for at once; a hint that may be lost (decisions 4.5). */
export type ImmediateCheckRequest = {
  reason: 'first_failure' | 'first_success' | 'disagreement' | 'doubt'
  /** the other regions of the monitor */
  regions: readonly string[]
  /** another probe of these regions, not this one: of the result's, and of those where an opinion is to be renewed */
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
  /** the outage that goes on or ends with this; null outside one */
  downSinceMs: number | null
  /** only when this ends an outage, in ms */
  downDurationMs: number | null
  /** the voting regions that fail, in the policy's order */
  failingRegions: readonly string[]
  /** the result to show with the event */
  check: VerdictResult
  explanation: Explanation
}

/**
 * When a new state has to be stored. `at_once`: with the result. `soon`: while results are still read again after a
 * restart, which bring it back. `no`: only fence, vote time or last result moved; to forget that changes no verdict.
 */
export type StoreTiming = 'at_once' | 'soon' | 'no'

export type Decision = {
  /** `aside`: another probe's opinion, not in the streak; `history` and `refused_future` never count */
  kind: 'counted' | 'aside' | 'history' | 'refused_future'
  reason: HistoryReason | null
  /** the next state; the very same object when nothing changed */
  state: MonitorState
  store: StoreTiming
  transition: StatusTransition | null
  ask: ImmediateCheckRequest | null
  /** what the probe has to hear: a new state, or the old one where its own re-checks say otherwise */
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
  /** false: pending, never heard of, or too old */
  votes: boolean
  age_seconds: number | null
  failed_in_a_row: number
  not_up_in_a_row: number
  better_in_a_row: number
  first_failure_at: string | null
  last_check: ExplainedCheck | null
  /** only where the region's failures were doubted */
  doubt?: { settled_by: RegionDoubt['settledBy']; witness: (ExplainedCheck & { region: string }) | null }
}

/** Which value of a data source decided, and what its rule made of it. */
export type ExplainedValue = { field_id: string; key: string; rule: string; value: string; reason: string }

/** Why a status changed, as `GET /monitors/{id}/transitions` shows it (decisions 4.7). */
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
    /** regions without a probe, which are not waited for; left out where there are none */
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
  /** only of a monitor that is a data source's value */
  data_source?: ExplainedValue
  timings: {
    first_failure_at: string | null
    others_asked_at: string | null
    no_majority_since: string | null
    outage_since: string | null
    outage_seconds: number | null
  }
}
