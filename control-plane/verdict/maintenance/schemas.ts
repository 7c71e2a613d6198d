import { type Static, Type } from 'typebox'
import { Id, lineText, nullable, strictObject, stringEnum, Timestamp } from '../../foundation/web/validation/schemas.ts'
import { DEFAULT_ANNOUNCE_MINUTES, MAX_ANNOUNCE_MINUTES } from './limits.ts'
import { MAX_WINDOW_MINUTES } from './schedule-validation.ts'

const DateTime = Type.String({ format: 'date-time' })
const Title = lineText(1, 200)
const MonitorIds = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true })

const optional = {
  description: Type.Optional(nullable(Type.String({ maxLength: 10_000 }))),
  cron: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200, format: 'line' }))),
  duration_minutes: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: MAX_WINDOW_MINUTES }))),
  time_zone: Type.Optional(nullable(lineText(1, 100))),
  starts_at: Type.Optional(nullable(DateTime)),
  ends_at: Type.Optional(nullable(DateTime)),
  notify_subscribers: Type.Optional(
    Type.Boolean({
      description:
        'Whether notices (announced, changed, begun, ended, cancelled) are sent to the confirmed subscribers of status pages that show one of the monitors. Defaults to true without cron, and to false with cron.',
    }),
  ),
  announce_minutes: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_ANNOUNCE_MINUTES,
      description: `How many minutes before its beginning a period is announced. 0: it is not announced. Defaults to ${DEFAULT_ANNOUNCE_MINUTES} (a day).`,
    }),
  ),
}

const MONITORS = ['0190a0a0-0000-7000-8000-000000000000']

export const WindowCreate = strictObject(
  { title: Title, monitor_ids: MonitorIds, ...optional },
  {
    title: 'MaintenanceWindowCreate',
    description:
      'Recurring periods: set cron, duration_minutes and time_zone. One period: set starts_at and ends_at only.',
    examples: [
      {
        ...{ title: 'Nightly', monitor_ids: MONITORS },
        ...{ cron: '30 2 * * *', duration_minutes: 45, time_zone: 'Europe/Berlin' },
      },
      {
        ...{ title: 'Move', monitor_ids: MONITORS },
        ...{ starts_at: '2027-03-01T09:00:00Z', ends_at: '2027-03-01T11:00:00Z' },
      },
    ],
  },
)
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

const WINDOW_STATUSES = ['scheduled', 'active', 'ended'] as const

export const WindowRecord = Type.Object(
  {
    id: Id,
    title: Type.String(),
    description: nullable(Type.String()),
    monitor_ids: Type.Array(Id),
    cron: nullable(Type.String({ description: 'Five fields. null: one period from starts_at to ends_at.' })),
    duration_minutes: nullable(Type.Integer()),
    time_zone: nullable(Type.String({ description: 'IANA name of the time zone for cron.' })),
    starts_at: nullable(Timestamp),
    ends_at: nullable(Timestamp),
    notify_subscribers: Type.Boolean(),
    announce_minutes: Type.Integer(),
    status: stringEnum(WINDOW_STATUSES),
    next_starts_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'MaintenanceWindow' },
)
