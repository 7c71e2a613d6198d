import { Type } from 'typebox'
import { toId, toLine, toRecord, toText } from './field-values.ts'

/** A channel of a team's chat in responses. */
export const ListedChannel = Type.Object({
  id: Type.String({ description: 'Use it as channel_id of an alert channel.' }),
  name: Type.String(),
  is_member: Type.Boolean({
    description: 'Whether the app is in the channel. Otherwise a person of the team has to invite it.',
  }),
})
export type ListedChannel = { id: string; name: string; is_member: boolean }

/** Parses one page of `conversations.list`. An empty `cursor` marks the last page. */
export function parseChannels(fields: Record<string, unknown>): { channels: ListedChannel[]; cursor: string } {
  const listed = Array.isArray(fields.channels) ? fields.channels.map(toRecord) : []
  const channels = listed.flatMap(channel => {
    const id = toId(channel.id)
    return id === null ? [] : [{ id, name: toLine(channel.name) || id, is_member: channel.is_member === true }]
  })
  return { channels, cursor: toText(toRecord(fields.response_metadata).next_cursor).slice(0, 1_000) }
}
