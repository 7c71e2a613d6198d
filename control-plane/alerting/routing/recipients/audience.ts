import type { EventRow } from '../../events/catalog.ts'
import type { StoredRule } from '../rules/rule-store.ts'
import { type Audience, matchChannels } from './channel-matching.ts'
import { type DirectRecipient, selectDirectRecipients } from './direct-recipients.ts'

/** A position in the audience of an event: after the channel `after`, in the order of the channels' ids. Null: the beginning. */
export type AudiencePosition = { event: EventRow; after: string | null }

export type LoadedAudience = Audience & { rules: StoredRule[]; people: DirectRecipient[] }

/** `until`: the last channel that the part covers; null: the part is the last one. */
export type AudiencePart = LoadedAudience & { until: string | null }

/**
 * Cuts one part out of lists with at most `limit` entries each, sorted by channel. A full list may continue after its last
 * channel, so the part ends there.
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

/** The channels that receive an event. The channel of a person has neither rules nor subscriptions, so none is listed twice. */
export const listRecipientChannels = (event: EventRow, audience: LoadedAudience): string[] => [
  ...matchChannels(event, audience),
  ...selectDirectRecipients(event, audience.people).map(({ channelId }) => channelId),
]
