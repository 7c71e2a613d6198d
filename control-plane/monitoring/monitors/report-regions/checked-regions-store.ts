import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { CheckedRegions } from './checked-regions.ts'

type CheckedRegionsRow = CheckedRegions & { id: string; revision: number; isDeleted: boolean }

/** Lists at most `limit` monitors of all projects after a revision, in order. Includes deleted monitors. */
export function listCheckedRegionsSince(db: Db, revision: number, limit: number): Promise<CheckedRegionsRow[]> {
  return query(
    db,
    `SELECT id, revision, regions, left_regions AS "left", deleted_at IS NOT NULL AS "isDeleted"
     FROM monitors WHERE revision > ? ORDER BY revision LIMIT ?`,
    [revision, limit],
  )
}
