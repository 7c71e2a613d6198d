import type { IncidentEventData } from '../../events/catalog.ts'

/** A member who can receive direct messages, by a channel that reaches this person only. */
export type DirectRecipient = { userId: string; channelId: string; isOnCall: boolean }

/** True for events that can be sent as direct messages. */
export const isDirectMessageEvent = (name: string): boolean =>
  ['incident.created', 'incident.updated', 'incident.resolved'].includes(name)

type Event = { name: string; data: object }

/**
 * The recipients of direct messages about an event (docs/design/alerting.md#recipients): the person on call when an
 * incident opens; the person who acknowledged it for its updates and its end, except for their own updates.
 */
export function selectDirectRecipients({ name, data }: Event, people: DirectRecipient[]): DirectRecipient[] {
  if (name === 'incident.created') return people.filter(({ isOnCall }) => isOnCall)
  if (!isDirectMessageEvent(name)) return []
  const { incident, update } = data as IncidentEventData
  return people.filter(({ userId }) => userId === incident.acknowledged_by && userId !== update?.author_id)
}
