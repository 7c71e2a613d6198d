/**
 * Columns that only some checks have: JSON, otherwise empty. `screenshot_id` refers to the object store.
 * `trigger` is result.proto's, 0 the schedule.
 */
export const statements = [
  `ALTER TABLE results
     ADD COLUMN IF NOT EXISTS evidence String CODEC(ZSTD),
     ADD COLUMN IF NOT EXISTS certificate String CODEC(ZSTD),
     ADD COLUMN IF NOT EXISTS details String CODEC(ZSTD),
     ADD COLUMN IF NOT EXISTS screenshot_id String CODEC(ZSTD),
     ADD COLUMN IF NOT EXISTS trigger UInt8`,
]
