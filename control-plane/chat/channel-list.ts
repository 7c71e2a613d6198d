import { Type } from 'typebox'
import { lineOf, recordOf, textOf, wordOf } from './words.ts'

/** A channel of a team's chat, as the picker shows it. */
export const ListedChannel = Type.Object({
  id: Type.String({ description: 'the channel_id of an alert channel' }),
  name: Type.String(),
  is_member: Type.Boolean({ description: 'the app is in the channel; else somebody has to invite it' }),
})
export type ListedChannel = { id: string; name: string; is_member: boolean }

/** One page of `conversations.list`. `cursor` "": it is the last one. */
export function readChannels(fields: Record<string, unknown>): { channels: ListedChannel[]; cursor: string } {
  const listed = Array.isArray(fields.channels) ? fields.channels.map(recordOf) : []
  const channels = listed.flatMap(channel => {
    const id = wordOf(channel.id)
    return id === null ? [] : [{ id, name: lineOf(channel.name) || id, is_member: channel.is_member === true }]
  })
  return { channels, cursor: textOf(recordOf(fields.response_metadata).next_cursor).slice(0, 1_000) }
}
