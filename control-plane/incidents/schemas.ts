import { Type } from 'typebox'
import { enumOf, Id, nullable, pageProperties, strictObject, Timestamp } from '../web/schemas.ts'
import { INCIDENT_STATUSES, SEVERITIES } from './lifecycle.ts'

const oneOrSeveral = (values: readonly string[]) =>
  Type.Optional(Type.String({ description: `one or several of ${values.join(', ')}, separated by commas` }))

export const IncidentQuery = strictObject({
  ...pageProperties,
  status: oneOrSeveral(INCIDENT_STATUSES),
  severity: oneOrSeveral(SEVERITIES),
})

/** The record of decisions 5.2. */
export const Incident = Type.Object({
  id: Id,
  title: Type.String(),
  severity: enumOf(SEVERITIES),
  status: enumOf(INCIDENT_STATUSES),
  message: nullable(Type.String()),
  source: enumOf(['manual', 'automatic']),
  monitor_ids: Type.Array(Id),
  monitors: Type.Array(
    Type.Object({ id: Id, name: Type.String(), status: nullable(enumOf(['up', 'down', 'degraded'])) }),
  ),
  started_at: Timestamp,
  resolved_at: nullable(Timestamp),
  acknowledged_at: nullable(Timestamp),
  acknowledged_by: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
})
