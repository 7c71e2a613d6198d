import { type Static, Type } from 'typebox'
import {
  Id,
  lineText,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../../foundation/web/validation/schemas.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../lifecycle.ts'

const oneOrSeveral = (values: readonly string[]) =>
  Type.Optional(Type.String({ description: `one or several of ${values.join(', ')}, separated by commas` }))

export const IncidentQuery = strictObject({
  ...pageProperties,
  status: oneOrSeveral(INCIDENT_STATUSES),
  severity: oneOrSeveral(SEVERITIES),
})

const Title = lineText(1, 200)
const MAX_MESSAGE_LENGTH = 10_000
const severity = Type.Optional(stringEnum(SEVERITIES))
const status = Type.Optional(stringEnum(INCIDENT_STATUSES))

export const IncidentCreate = strictObject(
  {
    title: Title,
    severity: Type.Optional(stringEnum(SEVERITIES, { default: 'minor' })),
    status: Type.Optional(stringEnum(INCIDENT_STATUSES, { default: 'investigating' })),
    message: Type.Optional(Type.String({ maxLength: MAX_MESSAGE_LENGTH, description: 'becomes the first update' })),
    monitor_ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000, uniqueItems: true })),
  },
  {
    title: 'IncidentCreate',
    examples: [{ title: 'Checkout is slow', severity: 'minor', message: 'We are looking into slow payments.' }],
  },
)
export type IncidentCreate = Static<typeof IncidentCreate>

/** The specification's incident update body: what is not named stays. */
export const IncidentChange = strictObject({ title: Type.Optional(Title), severity, status })
export type IncidentChange = Static<typeof IncidentChange>

export const UpdateCreate = strictObject(
  {
    message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE_LENGTH }),
    status,
    is_internal: Type.Optional(Type.Boolean({ default: false })),
  },
  { description: 'without a status: investigating, but a resolved incident stays resolved' },
)
export type UpdateCreate = Static<typeof UpdateCreate>

/** One of an incident's updates. `author_id` is null for those that the system wrote. */
export const IncidentUpdate = Type.Object(
  {
    id: Id,
    incident_id: Id,
    status: stringEnum(INCIDENT_STATUSES),
    message: Type.String(),
    is_internal: Type.Boolean(),
    author_id: nullable(Id),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'IncidentUpdate' },
)

/** The record of decisions 5.2. */
export const Incident = Type.Object(
  {
    id: Id,
    title: Type.String(),
    severity: stringEnum(SEVERITIES),
    status: stringEnum(INCIDENT_STATUSES),
    message: nullable(Type.String()),
    source: stringEnum(['manual', 'automatic']),
    caused_by_monitor_id: nullable(Type.String({ description: 'the parent whose outage this one came of' })),
    monitor_ids: Type.Array(Id),
    monitors: Type.Array(
      Type.Object({ id: Id, name: Type.String(), status: nullable(stringEnum(['up', 'down', 'degraded'])) }),
    ),
    started_at: Timestamp,
    resolved_at: nullable(Timestamp),
    acknowledged_at: nullable(Timestamp),
    acknowledged_by: nullable(Id),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Incident' },
)

/** One incident, with what may have caused it. */
export const IncidentWithCauses = Type.Object(
  {
    ...Incident.properties,
    possible_causes: Type.Array(
      Type.Object({
        dependency_id: Id,
        name: Type.String(),
        title: Type.String(),
        severity: Type.String(),
        source_url: Type.String(),
        started_at: Timestamp,
        resolved_at: nullable(Timestamp),
      }),
      { description: 'what vendors of the project reported while it lasted, worst first; of outages of monitors only' },
    ),
  },
  { title: 'IncidentWithCauses' },
)
