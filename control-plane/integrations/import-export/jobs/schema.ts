import { Type } from 'typebox'
import {
  Id,
  lineText,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../../foundation/web/validation/schemas.ts'
import { IMPORT_SOURCES } from '../converters/index.ts'
import { RESOURCE_KINDS } from '../import/import-report.ts'
import { ITEM_ACTIONS } from './items.ts'

export const JOB_STATUSES = ['uploading', 'reading', 'planning', 'ready', 'applying', 'applied', 'failed'] as const

export const UploadQuery = strictObject({
  from: Type.Optional({
    ...stringEnum(IMPORT_SOURCES, { default: 'picket' }),
    description: 'A Picket file, a backup or database of Uptime Kuma, or a configuration of Gatus.',
  }),
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Only plan; `POST /imports/{id}/apply` applies the plan. Defaults to true.' }),
  ),
  prune: Type.Optional(
    Type.Boolean({
      description: 'Delete records that the file does not name, in the sections that it has. Defaults to false.',
    }),
  ),
  file_name: Type.Optional(lineText(1, 255)),
})

export const ItemQuery = strictObject({
  ...pageProperties,
  action: Type.Optional(stringEnum(ITEM_ACTIONS)),
  has_warnings: Type.Optional(Type.Boolean()),
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'A part of the name. Upper and lower case are the same.' }),
  ),
})

const counts = Object.fromEntries(ITEM_ACTIONS.map(action => [action, Type.Integer()])) as Record<
  (typeof ITEM_ACTIONS)[number],
  ReturnType<typeof Type.Integer>
>

export const ImportRecord = Type.Object(
  {
    id: Id,
    status: {
      ...stringEnum(JOB_STATUSES),
      description: '`ready`: the plan can be applied. `failed`: nothing was changed; see `error`.',
    },
    from: stringEnum(IMPORT_SOURCES),
    prune: Type.Boolean(),
    file_name: nullable(Type.String()),
    bytes: Type.Number({ description: 'Size of the file; while it is uploaded, the bytes so far.' }),
    can_apply: Type.Boolean({ description: 'The converted file is stored, and nothing is running.' }),
    progress: Type.Object({ done: Type.Integer(), total: Type.Integer() }),
    summary: nullable(
      Type.Object({
        ...counts,
        warnings: Type.Integer(),
        extra: Type.Integer({ description: 'Records that the file does not name and that are kept.' }),
      }),
    ),
    error: nullable(
      Type.Object({
        status: Type.Integer(),
        code: Type.String(),
        message: Type.String(),
        details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Import' },
)

export const ImportItemRecord = Type.Object(
  {
    action: {
      ...stringEnum(ITEM_ACTIONS),
      description: '`left_out`: an entry that is not imported. `note`: a warning that concerns no single entry.',
    },
    resource: nullable(stringEnum(RESOURCE_KINDS)),
    key: Type.String({ description: 'Name of the record for people, or the place in the file.' }),
    id: nullable(Id),
    fields: Type.Record(
      Type.String(),
      Type.Object({ from: Type.Unknown(), to: Type.Unknown(), is_secret: Type.Optional(Type.Boolean()) }),
    ),
    warnings: Type.Array(Type.String()),
  },
  { title: 'ImportItem' },
)
