import { REGIONS } from '../../../../shared/checks/check.ts'
import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { listRegionEpochs } from '../../../monitoring/fleet/live-sets/store.ts'

const CACHE_TTL_MS = 2_000

/** Reads the regions without a live probe, sorted. At most 2 s old. */
export function createRegionsReader(db: Db): () => Promise<readonly string[]> {
  let regions: readonly string[] = []
  let readMs = Number.NEGATIVE_INFINITY
  const update = coalesce(async () => {
    const startedMs = monotonicMs()
    const epochs = await listRegionEpochs(db)
    const live = new Set(epochs.filter(({ probes }) => probes.length > 0).map(({ region }) => region as string))
    regions = REGIONS.filter(region => !live.has(region)).sort()
    readMs = startedMs
  })
  return async () => {
    if (monotonicMs() - readMs > CACHE_TTL_MS) await update()
    return regions
  }
}
