import { type Static, Type } from 'typebox'
import { Id, lineText, Name, strictObject, Timestamp } from '../../foundation/web/validation/schemas.ts'

const fields = {
  name: Name,
  query: Type.String({
    ...lineText(1, 500),
    description: 'A query of the list of monitors, such as `is:down tag:shop`.',
  }),
}

export const ViewRecord = Type.Object(
  {
    id: Id,
    ...fields,
    is_shared: Type.Boolean({
      description: 'True: all members see it. False: only the person who is signed in sees it.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'View' },
)

const isShared = Type.Optional(
  Type.Boolean({
    description:
      'Whether all members see it, which needs the role editor. Defaults to false for a person, and to true for an API key, which has no personal views.',
  }),
)

export const ViewCreate = strictObject({ ...fields, is_shared: isShared })
export const ViewUpdate = strictObject({
  name: Type.Optional(fields.name),
  query: Type.Optional(fields.query),
  is_shared: isShared,
})

export type ViewCreate = Static<typeof ViewCreate>
export type ViewUpdate = Static<typeof ViewUpdate>
