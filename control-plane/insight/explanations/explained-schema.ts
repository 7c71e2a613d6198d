import { Type } from 'typebox'
import { CHECK_STATUSES } from '../../../shared/checks/result.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../foundation/web/validation/schemas.ts'
import type { SuppressionReason } from '../../verdict/suppression/review.ts'

/*
 * The parts of an explanation, with the names that stored explanations have (`Explanation` in verdict/core/types.ts), so
 * that a client shows both in the same way.
 */

const checkProperties = {
  status: stringEnum(CHECK_STATUSES),
  status_code: Type.Integer({ description: '0 without a response.' }),
  response_time_ms: Type.Number(),
  error: nullable(
    Type.Object({
      source: stringEnum(['none', 'target', 'resolver', 'internal']),
      code: Type.String(),
      message: Type.String(),
    }),
    { description: '`source` says whose fault it was: of the target, of the resolver, or of Picket (`internal`).' },
  ),
  attempt: Type.Integer(),
  scheduled_at: Timestamp,
  probe_id: Type.String(),
}

export const ExplainedCheckRecord = Type.Object(checkProperties, { title: 'ExplainedCheck' })

const Doubt = Type.Object({
  settled_by: nullable(stringEnum(['region', 'witness', 'probe', 'limit'])),
  witness: nullable(Type.Object({ ...checkProperties, region: Type.String() })),
})

/** What one region says. */
export const explainedVoteProperties = {
  region: Type.String(),
  state: stringEnum(['pending', 'ok', 'degraded', 'failing']),
  votes: Type.Boolean({ description: 'Whether the state counts as a vote.' }),
  age_seconds: nullable(Type.Number(), { description: 'Age of the newest check that counted.' }),
  failed_in_a_row: Type.Integer(),
  not_up_in_a_row: Type.Integer(),
  better_in_a_row: Type.Integer(),
  first_failure_at: nullable(Timestamp),
  last_check: nullable(ExplainedCheckRecord, { description: 'The newest check that counted.' }),
  doubt: Type.Optional(Doubt),
}

export const ExplainedCounts = Type.Object({
  ok: Type.Integer(),
  degraded: Type.Integer(),
  failing: Type.Integer(),
  not_voting: Type.Integer(),
})

export const ExplainedThresholds = Type.Object({
  failures_in_a_row: Type.Integer({ description: 'Failed checks in a row that make a region failing.' }),
  better_in_a_row: Type.Integer({ description: 'Better checks in a row that end failing or degraded.' }),
  interval_seconds: Type.Number(),
  timeout_ms: Type.Integer(),
  vote_lifetime_seconds: nullable(Type.Number(), { description: 'Null for a vote that does not expire.' }),
})

export const ExplainedTimings = Type.Object({
  first_failure_at: nullable(Timestamp),
  others_asked_at: nullable(Timestamp),
  no_majority_since: nullable(Timestamp),
  outage_since: nullable(Timestamp),
  outage_seconds: nullable(Type.Number()),
})

const WITHHELD_REASONS = ['maintenance', 'silenced', 'parent', 'grace', 'doubt'] as const satisfies SuppressionReason[]

/** A status change that was not sent, and why, as documented in the API. */
export const WITHHELD_PROPERTIES = {
  event_id: Id,
  event: Type.String({ description: 'Such as `monitor.down`.' }),
  reason: stringEnum(WITHHELD_REASONS),
  until: nullable(Timestamp, { description: 'The end of the reason. Null when it is not known.' }),
}
