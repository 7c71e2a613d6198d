import type { EventRow } from '../../alerting/events/catalog.ts'
import { insertEvents, listEventsByIds } from '../../alerting/events/store.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { type PendingNotification, removeOutage } from './suppressed.ts'

/** The events to send for withheld transitions, in order. Those without their outage are stored as new events. */
export async function loadEventsToSend(tx: Tx, pending: PendingNotification[]): Promise<EventRow[]> {
  const ids = pending.flatMap(({ transition }) => transition.eventIds)
  const events = new Map((await listEventsByIds(tx, ids)).map(event => [event.id, event]))
  const open = await findOpenIncidents(tx, [...events.values()])
  const rewritten: EventRow[] = []
  const toSend = pending.flatMap(({ transition, withoutOutage }) =>
    transition.eventIds.flatMap(id => {
      const event = events.get(id)
      if (!event) return []
      if (withoutOutage) {
        const shortened = removeOutage(newId(), event)
        rewritten.push(...shortened)
        return shortened
      }
      // a person has resolved the incident in the meantime, which was sent then, or deleted it
      return event.name === 'incident.created' && !open.has(event.subject) ? [] : [event]
    }),
  )
  await insertEvents(tx, rewritten)
  return toSend
}

async function findOpenIncidents(tx: Tx, events: EventRow[]): Promise<Set<string>> {
  const subjects = events.flatMap(({ name, subject }) => (name === 'incident.created' ? subject : []))
  if (subjects.length === 0) return new Set()
  const rows = await query<{ subject: string }>(
    tx,
    `SELECT 'incident:' || id AS subject FROM incidents
     WHERE id IN (SELECT replace(subject, 'incident:', '')::uuid FROM unnest(?::text[]) AS subject)
       AND resolved_at IS NULL`,
    [subjects],
  )
  return new Set(rows.map(({ subject }) => subject))
}
