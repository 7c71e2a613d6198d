import { Type } from 'typebox'
import { validationError } from '../web/errors.ts'

type Named = { alert_channel_id?: string; channel_id?: string }

const ALIAS = { deprecated: true, description: 'an older name of alert_channel_id' }

/** How a filter or a body names an alert channel. */
export const channelNames = (description?: string) => ({
  alert_channel_id: Type.Optional(Type.String({ ...(description && { description }) })),
  channel_id: Type.Optional(Type.String(ALIAS)),
})

/** The same in answers. */
export const channelNamesOf = (id: string) => ({ alert_channel_id: id, channel_id: id })
export const shownChannelNames = { alert_channel_id: Type.String(), channel_id: Type.String(ALIAS) }

/** The channel that is named, null when there is none. Throws 400 where both names say different things. */
export function channelIdOf({ alert_channel_id: id, channel_id: alias }: Named): string | null {
  if (id !== undefined && alias !== undefined && id !== alias) {
    const message =
      'channel_id is an older name of alert_channel_id and names another channel; send alert_channel_id only'
    throw validationError([{ path: 'channel_id', message }])
  }
  return id ?? alias ?? null
}
