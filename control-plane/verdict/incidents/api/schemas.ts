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
  Type.Optional(Type.String({ description: `One or more of ${values.join(', ')}, separated by commas.` }))

export const IncidentQuery = strictObject({
  ...pageProperties,
  status: oneOrSeveral(INCIDENT_STATUSES),
  severity: oneOrSeveral(SEVERITIES),
  monitor_id: Type.Optional(Type.String({ description: 'Incidents of this monitor.' })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Incidents that started at or after this time.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Incidents that started before this time.' })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Incidents whose title contains this text.' })),
})

const Title = lineText(1, 200)
const MAX_MESSAGE_LENGTH = 10_000
const severity = Type.Optional(stringEnum(SEVERITIES))
const status = Type.Optional(stringEnum(INCIDENT_STATUSES))
const monitorIds = Type.Optional(Type.Array(Type.String(), { maxItems: 1_000, uniqueItems: true }))

export const IncidentCreate = strictObject(
  {
    title: Title,
    severity: Type.Optional(stringEnum(SEVERITIES, { default: 'minor' })),
    status: Type.Optional(stringEnum(INCIDENT_STATUSES, { default: 'investigating' })),
    message: Type.Optional(
      Type.String({ maxLength: MAX_MESSAGE_LENGTH, description: 'The text of the first update.' }),
    ),
    is_internal: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the first update is internal, so that visitors do not see it.',
      }),
    ),
    monitor_ids: monitorIds,
  },
  {
    title: 'IncidentCreate',
    examples: [{ title: 'Checkout is slow', severity: 'minor', message: 'We are looking into slow payments.' }],
  },
)
export type IncidentCreate = Static<typeof IncidentCreate>

/** The body of `PUT /incidents/{id}`. Fields that are left out stay the same. */
export const IncidentChange = strictObject({
  title: Type.Optional(Title),
  severity,
  status,
  monitor_ids: monitorIds,
  postmortem: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: MAX_MESSAGE_LENGTH }), {
      description: 'What happened, why, and what will change. Null removes it.',
    }),
  ),
  is_postmortem_published: Type.Optional(
    Type.Boolean({ description: 'Whether status pages show the post-mortem. The incident must be resolved.' }),
  ),
})
export type IncidentChange = Static<typeof IncidentChange>

export const UpdateCreate = strictObject(
  {
    message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE_LENGTH }),
    status,
    is_internal: Type.Optional(Type.Boolean({ default: false })),
  },
  { description: '`status` defaults to `investigating`, except that a resolved incident stays resolved.' },
)
export type UpdateCreate = Static<typeof UpdateCreate>

/** An update of an incident. `author_id` is null for updates by the system. */
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

/** An incident as the API returns it. */
export const Incident = Type.Object(
  {
    id: Id,
    title: Type.String(),
    severity: stringEnum(SEVERITIES),
    status: stringEnum(INCIDENT_STATUSES),
    message: nullable(Type.String()),
    source: stringEnum(['manual', 'automatic']),
    caused_by_monitor_id: nullable(Type.String({ description: 'The parent monitor whose outage caused this one.' })),
    monitor_ids: Type.Array(Id),
    monitors: Type.Array(
      Type.Object({ id: Id, name: Type.String(), status: nullable(stringEnum(['up', 'down', 'degraded'])) }),
    ),
    started_at: Timestamp,
    resolved_at: nullable(Timestamp),
    acknowledged_at: nullable(Timestamp),
    acknowledged_by: nullable(Id),
    postmortem: nullable(Type.String()),
    postmortem_published_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Incident' },
)

/** An incident with its possible causes. */
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
      {
        description:
          'Incidents that vendors of the project reported during an automatic incident, worst first. Empty for manual ones.',
      },
    ),
  },
  { title: 'IncidentWithCauses' },
)
