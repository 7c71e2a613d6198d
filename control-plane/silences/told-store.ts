import type { EventRow } from '../events/catalog.ts'
import { eventsOfIds, insertEvents } from '../events/store.ts'
import { newId } from '../platform/ids.ts'
import { query, type Tx } from '../platform/postgres.ts'
import { quietly } from './quiet-event.ts'
import type { Telling } from './withheld.ts'

/** The events to tell of what was withheld, in order. Those that are told quietly are written down anew. */
export async function toldEvents(tx: Tx, tellings: Telling[]): Promise<EventRow[]> {
  const ids = tellings.flatMap(({ step }) => step.eventIds)
  const events = new Map((await eventsOfIds(tx, ids)).map(event => [event.id, event]))
  const over = await resolvedIncidents(tx, [...events.values()])
  const rewritten: EventRow[] = []
  const told = tellings.flatMap(({ step, quietly: isQuiet }) =>
    step.eventIds.flatMap(id => {
      const event = events.get(id)
      if (!event) return []
      if (isQuiet) {
        const quiet = quietly(newId(), event)
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

async function resolvedIncidents(tx: Tx, events: EventRow[]): Promise<Set<string>> {
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
