import { type Db, query } from '../../../foundation/platform/postgres/client.ts'

/**
 * Records which regions have no probe that can publish, and which have one again. Returns the regions that changed. Any
 * number of processes may record the same.
 */
export function recordRegionAbsences(
  db: Db,
  presence: { absent: string[]; present: string[] },
): Promise<{ region: string; isAbsent: boolean }[]> {
  return query(
    db,
    `UPDATE region_epochs SET
       absent_from = CASE WHEN region = ANY (CAST(:absent AS text[])) THEN now() ELSE absent_from END,
       absent_until = CASE WHEN region = ANY (CAST(:absent AS text[])) THEN NULL ELSE now() END
     WHERE (region = ANY (CAST(:absent AS text[])) AND (absent_from IS NULL OR absent_until IS NOT NULL))
        OR (region = ANY (CAST(:present AS text[])) AND absent_from IS NOT NULL AND absent_until IS NULL)
     RETURNING region, absent_until IS NULL AS "isAbsent"`,
    presence,
  )
}
