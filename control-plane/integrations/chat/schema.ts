import { Type } from 'typebox'
import { Id, pageProperties, strictObject, Timestamp } from '../../foundation/web/validation/schemas.ts'

export const InstallQuery = strictObject({
  redirect_to: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: 'Page of this origin to redirect to after the installation. Defaults to the chat settings.',
    }),
  ),
})

export const ChannelQuery = strictObject({
  ...pageProperties,
  q: Type.Optional(Type.String({ maxLength: 100, description: 'Part of a name.' })),
})

/** Not strict, because the provider may add parameters. */
export const CallbackQuery = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 2_048 })),
  state: Type.Optional(Type.String({ maxLength: 8_192 })),
  error: Type.Optional(Type.String({ maxLength: 200 })),
})

export const IdentityBody = strictObject({
  is_connected: Type.Boolean({ description: 'False: the chat user cannot act as the member and gets no messages.' }),
})

/** A link between a chat user and a member. */
export const IdentityRecord = Type.Object({
  id: Id,
  team_id: Type.String(),
  chat_user_id: Type.String(),
  user_id: Id,
  disconnected_at: Type.Union([Timestamp, Type.Null()], {
    description: 'Null: the chat user acts as the member. Else neither of them is linked again by email address.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
