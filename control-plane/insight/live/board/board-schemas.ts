import { Type } from 'typebox'
import { MONITOR_TYPES } from '../../../../shared/checks/check.ts'
import { Id, nullable, strictObject, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_STATUSES } from '../../../monitoring/monitors/types.ts'
import { BOARD_VOTES } from './board-row.ts'

/** The query of `GET /monitors/board`. */
export const BoardQuery = strictObject({
  since: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        'A `revision`. Returns only the monitors that changed or were removed after it. A revision that is unknown or older than 30 minutes returns everything, with `reset`.',
    }),
  ),
})

/** The board in the API, as `buildBoardJson` writes it. Only documents the response; it validates nothing. */
export const BoardRecord = Type.Object(
  {
    revision: Type.String({ description: 'For `since`, and for `Last-Event-ID` of the event stream. Opaque.' }),
    reset: Type.Boolean({
      description: 'True: these are all monitors; discard any others. False: update the monitors that are listed.',
    }),
    regions_without_probe: Type.Array(Type.String(), {
      description: 'Regions without a live probe. Their votes do not count.',
    }),
    unread_since: nullable(Timestamp, {
      description:
        'Since when the results of checks of some monitors have not been read: their statuses are from then. Null when all are read.',
    }),
    removed: Type.Array(Id, { description: 'Monitors that were deleted.' }),
    monitors: Type.Object(
      {
        id: Type.Array(Id),
        name: Type.Array(Type.String()),
        type: Type.Array(stringEnum(MONITOR_TYPES)),
        status: Type.Array(nullable(stringEnum(MONITOR_STATUSES))),
        status_changed_at: Type.Array(nullable(Timestamp)),
        is_paused: Type.Array(Type.Boolean()),
        tags: Type.Array(Type.Array(Type.String())),
        votes: Type.Array(Type.Record(Type.String(), stringEnum(BOARD_VOTES)), {
          description:
            'The vote of each region. `none`: no result yet, in doubt, or not checked. A heartbeat and a value of a data source have the single voter `heartbeat` or `data-source`.',
        }),
        cause: Type.Array(nullable(Type.String()), {
          description:
            'Why the monitor is down, degraded or not checked: an error or a status, at most 120 characters.',
        }),
        issue: Type.Array(nullable(Type.String()), {
          description:
            'Why the settings of the monitor do not allow a check: the first of its `configuration_issues` that does not depend on probes.',
        }),
        silenced_until: Type.Array(nullable(Timestamp), {
          description:
            'The end of the last silence of the monitor. It can be in the past, because the end of a silence changes nothing on the board.',
        }),
        parents: Type.Array(Type.Array(Id), {
          description: 'The monitors that the monitor depends on, also those that were deleted since.',
        }),
      },
      {
        description:
          'One array for each field. The values at one index belong to one monitor. The order has no meaning.',
      },
    ),
  },
  { title: 'Board' },
)
