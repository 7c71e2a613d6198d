import { Type } from 'typebox'
import { nullable, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { BoardRecord } from '../board/board-schemas.ts'

/** Why a stream ends, or begins at another position. */
export const RESET_REASONS = ['unknown_position', 'position_too_old'] as const

const Ids = Type.Object(
  {
    ids: nullable(Type.Array(Type.String()), { description: 'The changed records. Null: many; read the list again.' }),
  },
  { title: 'ChangedRecords' },
)

/** The data of the events of the stream. Only documents the response; it validates nothing. */
export const EventData = Type.Union([
  Type.Object(
    {
      changes: nullable(BoardRecord, {
        description: 'The changed monitors. Null: many; read `GET /monitors/board` with `since`.',
      }),
    },
    { title: 'BoardEvent' },
  ),
  Ids,
  Type.Object({ reason: stringEnum(RESET_REASONS) }, { title: 'ResetEvent' }),
  Type.Object({ resumed: Type.Boolean() }, { title: 'ReadyEvent' }),
  Type.Object({ build: Type.String() }, { title: 'ServerEvent' }),
  Type.Object({}, { title: 'HeartbeatEvent' }),
])
