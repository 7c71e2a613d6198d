import type { IncidentEventData } from '../../events/catalog.ts'

/** Somebody who can be told in person, by a channel that reaches nobody else. */
export type DirectRecipient = { userId: string; channelId: string; isOnCall: boolean }

/** False for what nobody is told of in person. */
export const isDirectMessageEvent = (name: string): boolean =>
  ['incident.created', 'incident.updated', 'incident.resolved'].includes(name)

type Event = { name: string; data: object }

/**
 * Who is told of an event in person: who is on call, that an incident opened; who acknowledged it, how it goes on and
 * that it is over, but for what they wrote themselves.
 */
export function selectDirectRecipients({ name, data }: Event, people: DirectRecipient[]): DirectRecipient[] {
  if (name === 'incident.created') return people.filter(({ isOnCall }) => isOnCall)
  if (!isDirectMessageEvent(name)) return []
  const { incident, update } = data as IncidentEventData
  return people.filter(({ userId }) => userId === incident.acknowledged_by && userId !== update?.author_id)
}
