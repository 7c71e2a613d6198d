import { type Static, Type } from 'typebox'
import {
  Id,
  lineText,
  Name,
  nullable,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../../../foundation/web/validation/schemas.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../../lifecycle.ts'

const title = nullable(lineText(1, 200), { description: 'The title of an incident. Null: the template has none.' })
const severity = nullable(stringEnum(SEVERITIES), { description: 'Null: the template does not set it.' })
const status = nullable(stringEnum(INCIDENT_STATUSES), { description: 'Null: the template does not set it.' })
const message = Type.String({ minLength: 1, maxLength: 10_000, description: 'The text of an update.' })

export const IncidentTemplate = Type.Object(
  { id: Id, name: Name, title, severity, status, message, created_at: Timestamp, updated_at: Timestamp },
  { title: 'IncidentTemplate' },
)

export const TemplateCreate = strictObject(
  {
    name: Name,
    title: Type.Optional(title),
    severity: Type.Optional(severity),
    status: Type.Optional(status),
    message,
  },
  {
    title: 'IncidentTemplateCreate',
    examples: [{ name: 'Provider outage', status: 'identified', message: 'Our provider reports an outage.' }],
  },
)
export const TemplateUpdate = strictObject(
  { ...TemplateCreate.properties, name: Type.Optional(Name), message: Type.Optional(message) },
  { title: 'IncidentTemplateUpdate' },
)

export type TemplateCreate = Static<typeof TemplateCreate>
export type TemplateUpdate = Static<typeof TemplateUpdate>
