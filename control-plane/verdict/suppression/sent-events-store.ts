import type { EventRow } from '../../alerting/events/catalog.ts'
import { insertEvents, listEventsByIds } from '../../alerting/events/store.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { removeOutage } from './quiet-event.ts'
import type { PendingNotification } from './suppressed.ts'

/** The events to tell of what was withheld, in order. Those that are told quietly are written down anew. */
export async function loadEventsToSend(tx: Tx, tellings: PendingNotification[]): Promise<EventRow[]> {
  const ids = tellings.flatMap(({ transition: step }) => step.eventIds)
  const events = new Map((await listEventsByIds(tx, ids)).map(event => [event.id, event]))
  const over = await findResolvedIncidents(tx, [...events.values()])
  const rewritten: EventRow[] = []
  const told = tellings.flatMap(({ transition: step, withoutOutage: isQuiet }) =>
    step.eventIds.flatMap(id => {
      const event = events.get(id)
      if (!event) return []
      if (isQuiet) {
        const quiet = removeOutage(newId(), event)
        rewritten.push(...quiet)
        return quiet
      }
      // somebody resolved it meanwhile, which was told then
      return event.name === 'incident.created' && over.has(event.subject) ? [] : [event]
    }),
  )
  await insertEvents(tx, rewritten)
  return told
}

async function findResolvedIncidents(tx: Tx, events: EventRow[]): Promise<Set<string>> {
  const subjects = events.flatMap(({ name, subject }) => (name === 'incident.created' ? subject : []))
  if (subjects.length === 0) return new Set()
  const rows = await query<{ subject: string }>(
    tx,
    `SELECT 'incident:' || id AS subject FROM incidents
     WHERE id IN (SELECT replace(subject, 'incident:', '')::uuid FROM unnest(?::text[]) AS subject)
       AND resolved_at IS NOT NULL`,
    [subjects],
  )
  return new Set(rows.map(({ subject }) => subject))
}
