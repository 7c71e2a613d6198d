import { Type } from 'typebox'
import { Id, nullable, strictObject, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MonitorUpdate } from '../../../monitoring/monitors/settings/schema.ts'
import { LIMIT_CODES } from './limits.ts'
import { REASON_CODES } from './reasons.ts'

const DateTime = Type.String({ format: 'date-time' })
export const DEFAULT_DAYS = 7
export const MAX_DAYS = 30
/** The largest number of outages, and of degradations, in an answer. */
export const MAX_PERIODS = 500

export const RehearsalBody = strictObject(
  {
    settings: MonitorUpdate,
    from: Type.Optional({ ...DateTime, description: `Defaults to ${DEFAULT_DAYS} days before \`to\`.` }),
    to: Type.Optional({ ...DateTime, description: `Defaults to now. At most ${MAX_DAYS} days after \`from\`.` }),
  },
  { title: 'RehearsalRequest', examples: [{ settings: { retry_count: 3 } }] },
)

const Period = Type.Object({
  from: { ...Timestamp, description: 'When the status changed.' },
  to: nullable({ ...Timestamp, description: 'null: it has not ended in the period.' }),
  detected_after_ms: nullable(Type.Integer({ description: 'From the first failure to the change of the status.' })),
})
const Outages = Type.Object({
  outage_count: Type.Integer(),
  degradation_count: Type.Integer(),
  outages: Type.Array(Period, { description: `From down until up, oldest first, at most ${MAX_PERIODS}.` }),
  degradations: Type.Array(Period, { description: `Outside of outages, oldest first, at most ${MAX_PERIODS}.` }),
})
const buildReason = (codes: readonly string[]) => Type.Object({ code: stringEnum(codes), message: Type.String() })

export const RehearsalRecord = Type.Object({
  monitor_id: Id,
  from: Timestamp,
  to: Timestamp,
  sentence: Type.String({
    description: 'The difference as a sentence, such as "4 outages become 2, detected 40 seconds later."',
  }),
  before: Type.Object(Outages.properties, { description: 'From the stored transitions.' }),
  after: nullable(
    Type.Object(Outages.properties, { description: 'With the changed settings. null: they cannot be rehearsed.' }),
  ),
  detected_later_ms: nullable(
    Type.Integer({ description: 'How much later the same outages begin on average; negative: earlier.' }),
  ),
  checks: Type.Integer({ description: 'The number of stored checks that were decided again.' }),
  approximate: Type.Boolean({ description: 'True when not everything that decided then is stored.' }),
  reasons: Type.Array(buildReason(REASON_CODES), { description: 'Why the result is approximate.' }),
  limits: Type.Array(buildReason(LIMIT_CODES), { description: 'What cannot be simulated.' }),
})
