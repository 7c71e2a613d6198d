import { type Db, query } from '../platform/postgres.ts'
import type { CheckedRegions } from './checked-regions.ts'

export type CheckedRow = CheckedRegions & { id: string; revision: number; isDeleted: boolean }

/** At most `limit` monitors of all projects after a revision, deleted ones too, in order. */
export function checkedRegionsSince(db: Db, revision: number, limit: number): Promise<CheckedRow[]> {
  return query(
    db,
    `SELECT id, revision, regions, left_regions AS "left", deleted_at IS NOT NULL AS "isDeleted"
     FROM monitors WHERE revision > ? ORDER BY revision LIMIT ?`,
    [revision, limit],
  )
}
