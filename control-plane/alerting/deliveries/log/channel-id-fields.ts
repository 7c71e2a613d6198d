import { Type } from 'typebox'
import { validationError } from '../../../foundation/web/server/errors.ts'

type ChannelIdInput = { alert_channel_id?: string; channel_id?: string }

const ALIAS = { deprecated: true, description: 'Older name of `alert_channel_id`.' }

/** Schema of an alert channel's id in a filter or a body. */
export const channelIdParams = (description?: string) => ({
  alert_channel_id: Type.Optional(Type.String({ ...(description && { description }) })),
  channel_id: Type.Optional(Type.String(ALIAS)),
})

/** The same in responses. */
export const toChannelIdFields = (id: string) => ({ alert_channel_id: id, channel_id: id })
export const channelIdResponseFields = { alert_channel_id: Type.String(), channel_id: Type.String(ALIAS) }

/** The id of the channel, null when it is missing. Throws 400 when both fields are given and differ. */
export function parseChannelId({ alert_channel_id: id, channel_id: alias }: ChannelIdInput): string | null {
  if (id !== undefined && alias !== undefined && id !== alias) {
    const message = 'channel_id is an older name of alert_channel_id, and the two differ; send alert_channel_id only'
    throw validationError([{ path: 'channel_id', message }])
  }
  return id ?? alias ?? null
}
