import type { Knex } from 'knex'

/**
 * Whether a stored status may be out of date. `complete_since`: since when the reader of a partition has seen everything that
 * was published; `infinity`: not now. It counts only under the epoch in `complete_epoch`. A process of the previous version raises
 * the epoch and sets neither: then nothing is known, and statuses count as current.
 * `silences.send_by`: when a withheld outage is sent although its status may be out of date.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE partitions ADD COLUMN complete_epoch bigint, ADD COLUMN complete_since timestamptz;
    ALTER TABLE silences ADD COLUMN send_by timestamptz;

    CREATE FUNCTION outdated_monitors(ids uuid[]) RETURNS SETOF uuid LANGUAGE sql VOLATILE AS $$
      SELECT m.id FROM monitors m JOIN partitions p ON p.id = m.partition
      WHERE m.id = ANY (ids) AND m.type <> 'heartbeat' AND m.data_source_id IS NULL AND p.complete_epoch = p.epoch
        AND NOT coalesce(
          -- the reader works; a lease is renewed every 1.5 s and lasts longer than that
          p.lease_until > clock_timestamp() AND p.updated_at > clock_timestamp() - interval '4 s'
          AND (
            -- the status was decided while everything was seen
            p.complete_since <= m.status_changed_at
            -- or each region had time for a check and its re-check, and a probe that starts for its first one
            OR p.complete_since <= clock_timestamp() - least(interval '5 minutes',
              (m.interval_seconds + 20) * interval '1 s'
                + 2 * least(m.timeout_ms, m.interval_seconds * 1000) * interval '1 ms')),
          false)
    $$;
  `)
}
