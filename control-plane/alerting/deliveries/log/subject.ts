import { Type } from 'typebox'
import { Id, nullable, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { parseIncidentSubject, parseMonitorSubject, parseVendorSubject } from '../../events/catalog.ts'

/** The event of a delivery: its subject, and the name of the record at that time. */
export type DeliverySubject = { subject: string; name: string | null }

/** SQL for a row of `deliveries`: its DeliverySubject. */
export const DELIVERY_SUBJECT = `(
  SELECT jsonb_build_object('subject', e.subject,
    'name', coalesce(e.data->'monitor'->>'name', e.data->'vendor'->>'name', e.data->'incident'->>'title'))
  FROM events e WHERE e.id = deliveries.event_id)`

const ABOUT_TYPES = ['monitor', 'incident', 'vendor', 'test'] as const

export const DeliveryAbout = nullable(
  Type.Object({
    type: stringEnum(ABOUT_TYPES),
    id: nullable(Id),
    name: Type.String({
      description: 'The name of the monitor or vendor, or the title of the incident, at that time.',
    }),
  }),
  { description: 'What the event is about: `id` is of the monitor, incident or dependency. Null for a digest.' },
)

type About = { type: (typeof ABOUT_TYPES)[number]; id: string | null; name: string }

/** What a delivery is about. Null for a digest, which is about several monitors. */
export function toAbout({ subject, name }: DeliverySubject): About | null {
  if (name === null) return null
  const ids = {
    monitor: parseMonitorSubject(subject),
    incident: parseIncidentSubject(subject),
    vendor: parseVendorSubject(subject),
  }
  for (const type of ['monitor', 'incident', 'vendor'] as const) {
    if (ids[type] !== null) return { type, id: ids[type], name }
  }
  return subject.startsWith('channel:') ? { type: 'test', id: null, name } : null
}
