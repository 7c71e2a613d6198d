import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { EventPace } from './pace.ts'

export type PacedDestination = { eventId: string; host: string }

/** Locks the paces of events to hosts until the transaction ends. Returns them in the given order. */
export async function lockPaces(tx: Tx, destinations: PacedDestination[]): Promise<EventPace[]> {
  const wanted = destinations.map(({ eventId, host }) => ({ eventId, host: sha256(host).toString('hex') }))
  const columns = { events: wanted.map(one => one.eventId), hosts: wanted.map(one => one.host) }
  const DESTINATIONS = 'unnest(:events::uuid[], :hosts::text[]) AS w (event_id, host)'
  await execute(
    tx,
    `INSERT INTO event_paces (event_id, host, has_left, next_at)
     SELECT event_id, decode(host, 'hex'), 0, '-infinity' FROM ${DESTINATIONS} ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    columns,
  )
  const rows = await query<{ eventId: string; host: string; hasLeft: number; nextAt: Date | number }>(
    tx,
    `SELECT event_id AS "eventId", encode(host, 'hex') AS host, has_left AS "hasLeft",
       greatest(next_at, 'epoch') AS "nextAt"
     FROM event_paces
     WHERE (event_id, host) IN (SELECT event_id, decode(host, 'hex') FROM ${DESTINATIONS})
     ORDER BY event_id, event_paces.host FOR UPDATE`,
    columns,
  )
  const found = new Map(rows.map(({ eventId, host, ...pace }) => [`${eventId} ${host}`, pace as EventPace]))
  return wanted.map(({ eventId, host }) => found.get(`${eventId} ${host}`)!)
}

export async function storePaces(tx: Tx, paces: (PacedDestination & { pace: EventPace })[]): Promise<void> {
  await execute(
    tx,
    `UPDATE event_paces p SET has_left = r.has_left, next_at = r.next_at
     FROM jsonb_to_recordset(:rows::jsonb) AS r (event_id uuid, host text, has_left integer, next_at timestamptz)
     WHERE p.event_id = r.event_id AND p.host = decode(r.host, 'hex')`,
    {
      rows: JSON.stringify(
        paces.map(({ eventId, host, pace }) => ({
          ...{ event_id: eventId, host: sha256(host).toString('hex') },
          ...{ has_left: pace.hasLeft, next_at: pace.nextAt },
        })),
      ),
    },
  )
}

/** Defers deliveries that are not sent yet. The caller releases their lanes. */
export async function postponeDeliveries(tx: Tx, waits: { id: string; at: Date }[], now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET next_attempt_at = r.at, updated_at = :now
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, at timestamptz) WHERE d.id = r.id AND d.status = 'pending'`,
    { rows: JSON.stringify(waits), now },
  )
}
