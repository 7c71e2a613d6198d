import { type Static, Type } from 'typebox'
import { Id, lineText, Name, nullable, strictObject, Timestamp } from '../../../foundation/web/validation/schemas.ts'

const query = {
  ...lineText(0, 500),
  description: 'A query of the list of monitors, such as `tag:shop`. Empty: all monitors.',
}

export const WallLinkRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    query: Type.String({ description: query.description }),
    last_used_at: nullable(Timestamp, { description: 'When a screen last read it, to the minute.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'WallLink' },
)

export const CreatedWallLink = Type.Object(
  {
    ...WallLinkRecord.properties,
    url: Type.String({ description: 'The address of the wallboard, which contains the token. It is shown only once.' }),
  },
  { title: 'CreatedWallLink' },
)

export const WallLinkCreate = strictObject({
  name: Name,
  query: Type.Optional(Type.String({ ...query, default: '' })),
})
export type WallLinkCreate = Static<typeof WallLinkCreate>
