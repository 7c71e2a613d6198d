import type { EventRow } from '../../events/catalog.ts'
import type { StoredRule } from '../rules/rule-store.ts'
import { type Audience, matchChannels } from './channel-matching.ts'
import { type DirectRecipient, selectDirectRecipients } from './direct-recipients.ts'

/** Who might hear of an event: the part of it that comes after the channel `after`, in the order of the channels' ids. */
export type AudiencePosition = { event: EventRow; after: string | null }

export type LoadedAudience = Audience & { rules: StoredRule[]; people: DirectRecipient[] }

/** `until`: the last channel of which the part knows everything; null: it was the last one. */
export type AudiencePart = LoadedAudience & { until: string | null }

/**
 * One part out of lists of which each holds at most `limit`, sorted by channel. A list that is full may go on after its
 * last channel, so nothing beyond it is in the part.
 */
export function cutAudiencePart(lists: LoadedAudience, after: string | null, limit: number): AudiencePart {
  const { rules, subscriptions, overrides, people } = lists
  const ends = [rules, subscriptions, overrides]
    .filter(list => list.length >= limit)
    .map(list => list.at(-1)!.alertChannelId)
  const [until = null] = ends.sort()
  const isIn = (channelId: string) => (after === null || channelId > after) && (until === null || channelId <= until)
  const inside = <One extends { alertChannelId: string }>(list: One[]) => list.filter(one => isIn(one.alertChannelId))
  return {
    rules: inside(rules),
    subscriptions: inside(subscriptions),
    overrides: inside(overrides),
    people: people.filter(({ channelId }) => isIn(channelId)),
    until,
  }
}

/** A person's own channel has neither rules nor subscriptions, so none is named twice. */
export const listRecipientChannels = (event: EventRow, heard: LoadedAudience): string[] => [
  ...matchChannels(event, heard),
  ...selectDirectRecipients(event, heard.people).map(({ channelId }) => channelId),
]
