import { type Static, Type } from 'typebox'
import { enumOf, Id, lineText, nullable, strictObject, Timestamp } from '../web/schemas.ts'
import { LONGEST_MINUTES } from './problems.ts'

const DateTime = Type.String({ format: 'date-time' })
const Title = lineText(1, 200)
const MonitorIds = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true })

const optional = {
  description: Type.Optional(nullable(Type.String({ maxLength: 10_000 }))),
  cron: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200, format: 'line' }))),
  duration_minutes: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: LONGEST_MINUTES }))),
  time_zone: Type.Optional(nullable(lineText(1, 100))),
  starts_at: Type.Optional(nullable(DateTime)),
  ends_at: Type.Optional(nullable(DateTime)),
}

export const WindowCreate = strictObject({ title: Title, monitor_ids: MonitorIds, ...optional })
export type WindowCreate = Static<typeof WindowCreate>

export const WindowUpdate = strictObject(
  {
    title: Type.Optional(Title),
    monitor_ids: Type.Optional(MonitorIds),
    ...optional,
  },
  { title: 'MaintenanceWindowUpdate' },
)
export type WindowUpdate = Static<typeof WindowUpdate>

export const WINDOW_STATUSES = ['scheduled', 'active', 'ended'] as const

export const WindowRecord = Type.Object(
  {
    id: Id,
    title: Type.String(),
    description: nullable(Type.String()),
    monitor_ids: Type.Array(Id),
    cron: nullable(Type.String({ description: 'five fields; null: once, from starts_at to ends_at' })),
    duration_minutes: nullable(Type.Integer()),
    time_zone: nullable(Type.String({ description: 'IANA name, for cron' })),
    starts_at: nullable(Timestamp),
    ends_at: nullable(Timestamp),
    status: enumOf(WINDOW_STATUSES),
    next_starts_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'MaintenanceWindow' },
)
