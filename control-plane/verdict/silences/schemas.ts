import { type Static, Type } from 'typebox'
import {
  Id,
  lineText,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { MAX_SILENCE_DAYS, MAX_SILENCED_MONITORS } from './limits.ts'

const silenceProperties = {
  until: Type.String({
    format: 'date-time',
    description: `When the silence ends, at most ${MAX_SILENCE_DAYS} days ahead.`,
  }),
  reason: Type.Optional(nullable(lineText(1, 200), { description: 'Why. Shown to everyone in the project.' })),
}

const MONITORS = ['0190a0a0-0000-7000-8000-000000000000']

/** The end and the reason of a silence, without its monitors. */
export const SilenceSettings = strictObject(silenceProperties)
export type SilenceSettings = Static<typeof SilenceSettings>

export const SilenceCreate = strictObject(
  {
    monitor_ids: Type.Array(Type.String({ minLength: 1 }), {
      ...{ minItems: 1, maxItems: MAX_SILENCED_MONITORS, uniqueItems: true },
    }),
    ...silenceProperties,
  },
  {
    title: 'SilenceCreate',
    examples: [{ monitor_ids: MONITORS, until: '2027-03-01T11:00:00Z', reason: 'Move to the new database' }],
  },
)
export type SilenceCreate = Static<typeof SilenceCreate>

export const SilenceQuery = strictObject({
  ...pageProperties,
  monitor_id: Type.Optional(Type.String({ description: 'Silences of this monitor.' })),
  active: Type.Optional(Type.Boolean({ description: 'Whether the silence is in force now.' })),
})

const SILENCE_STATUSES = ['active', 'ended'] as const

export const SilenceRecord = Type.Object(
  {
    id: Id,
    monitor_ids: Type.Array(Id, { description: 'Without monitors that were deleted.' }),
    until: Timestamp,
    reason: nullable(Type.String()),
    status: stringEnum(SILENCE_STATUSES),
    created_at: Timestamp,
  },
  { title: 'Silence' },
)
