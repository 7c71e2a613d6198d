import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_STATUSES } from '../../../monitoring/monitors/types.ts'
import {
  ExplainedCheckRecord,
  ExplainedCounts,
  ExplainedThresholds,
  ExplainedTimings,
  explainedVoteProperties,
  WITHHELD_PROPERTIES,
} from '../explained-schema.ts'

/** Why a region has no vote now (docs/design/verdict.md#votes-now). */
export const NO_VOTE_REASONS = [
  'paused',
  'incomplete',
  'no_probe',
  'not_checked',
  'not_decided',
  'in_doubt',
  'too_old',
] as const

/** What holds back the alerts of a monitor now. */
export const SILENCE_KINDS = [
  'paused',
  'maintenance',
  'silenced',
  'parent_down',
  'parent_doubt',
  'parent_grace',
] as const

const Status = nullable(stringEnum(MONITOR_STATUSES))

const RegionVote = Type.Object({
  ...explainedVoteProperties,
  vote: nullable(stringEnum(['ok', 'degraded', 'failing']), { description: 'Null without a vote.' }),
  no_vote_reason: nullable(stringEnum(NO_VOTE_REASONS), {
    description:
      '`paused`, `incomplete` (the monitor cannot be checked), `no_probe` (no live probe in the region), `not_checked` (no check has counted), `not_decided` (too few checks in a row), `in_doubt` (another region has to confirm the failure), `too_old`. Null with a vote.',
  }),
  vote_since: nullable(Timestamp, {
    description:
      'The first check of the current run of checks with this result. Null when it is older than 24 hours, or unknown.',
  }),
  newest_check: nullable(ExplainedCheckRecord, {
    description: 'The newest check of the last 24 hours, also one that does not count, such as `unknown` or `missed`.',
  }),
  next_check_at: nullable(Timestamp, { description: 'The next scheduled check. A re-check may come earlier.' }),
})

/** What each region says about a monitor now. The parts of an explanation have the names of stored explanations. */
export const MonitorVotes = Type.Object(
  {
    monitor_id: Id,
    status: Status,
    since: nullable(Timestamp, { description: 'When the status changed last.' }),
    unread_since: nullable(Timestamp, {
      description:
        'Since when the results of its checks have not been read: the status is from then. Null when they are read.',
    }),
    unchecked_since: nullable(Timestamp, { description: 'Since when no check has counted. Null in other cases.' }),
    at: Timestamp,
    as_of: nullable(Timestamp, {
      description: 'Up to when results of checks are included. Null if the verdict has not read any.',
    }),
    status_by_votes: nullable(stringEnum(MONITOR_STATUSES), {
      description: 'The status that the votes alone lead to. Null without a quorum: the status is held.',
    }),
    failing_votes_needed: nullable(Type.Integer(), {
      description: 'How many of the current votes must fail for `down`. Null without a quorum.',
    }),
    quorum: Type.Object({
      mode: nullable(stringEnum(['full', 'reduced']), { description: 'Null without a quorum.' }),
      regions: Type.Integer(),
      needed: Type.Integer(),
      voting: Type.Integer(),
      lost_since: nullable(Timestamp),
      without_probe: Type.Optional(Type.Array(Type.String())),
    }),
    counts: ExplainedCounts,
    thresholds: ExplainedThresholds,
    votes: Type.Array(RegionVote, { description: 'One per region, in the order of the monitor.' }),
    timings: ExplainedTimings,
    silenced_by: Type.Array(
      Type.Object({
        kind: stringEnum(SILENCE_KINDS),
        id: nullable(Type.String(), { description: 'Of the maintenance window, the silence or the parent.' }),
        name: nullable(Type.String({ description: 'Of the window or the parent; the reason of a silence.' })),
        until: nullable(Timestamp, { description: 'Null when the end is not known.' }),
      }),
      { description: 'What holds back alerts now. Empty when alerts are sent.' },
    ),
    alerts_withheld: Type.Boolean({ description: 'Whether alerts wait to be sent afterwards.' }),
    withheld_alerts: Type.Array(Type.Object({ ...WITHHELD_PROPERTIES, at: Timestamp }), {
      description:
        'The status changes that wait, oldest first. Those that are no longer true when the reason ends are not sent.',
    }),
    last_transition_id: nullable(Id),
    checks_available: Type.Boolean({
      description: 'False while the history cannot be read: `newest_check` and most of `vote_since` are null then.',
    }),
  },
  { title: 'MonitorVotes' },
)
