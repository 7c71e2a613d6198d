import type { EventRow } from '../events/catalog.ts'
import { type Person, peopleToTell } from './people.ts'
import { type Audience, recipients } from './recipients.ts'
import type { StoredRule } from './store.ts'

/** Who might hear of an event: the part of it that comes after the channel `after`, in the order of the channels' ids. */
export type Place = { event: EventRow; after: string | null }

export type Heard = Audience & { rules: StoredRule[]; people: Person[] }

/** `until`: the last channel of which the part knows everything; null: it was the last one. */
export type Part = Heard & { until: string | null }

/**
 * One part out of lists of which each holds at most `limit`, sorted by channel. A list that is full may go on after its
 * last channel, so nothing beyond it is in the part.
 */
export function partOf(lists: Heard, after: string | null, limit: number): Part {
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
export const channelsOf = (event: EventRow, heard: Heard): string[] => [
  ...recipients(event, heard),
  ...peopleToTell(event, heard.people).map(({ channelId }) => channelId),
]
