import { regionEpochs } from '../fleet/store.ts'
import type { LiveTypes } from '../monitors/configuration.ts'
import type { ReadWatching } from '../monitors/present.ts'
import type { Clickhouse } from '../platform/clickhouse.ts'
import { monotonicMs } from '../platform/clock.ts'
import { nextRun } from '../platform/next-run.ts'
import type { Db } from '../platform/postgres.ts'
import { uncheckedSince } from '../verdict/store.ts'
import { createLastChecked } from './reader.ts'

/** How old an answer about probes may be. */
const KEPT_MS = 2_000

/** How monitors are watched: when they were last checked, since when no check has counted, and what the live probes of each region can do. */
export function createWatching(tools: { clickhouse: Clickhouse; db: Db }): ReadWatching {
  const lastCheckedAt = createLastChecked(tools)
  let liveTypes: LiveTypes = new Map()
  let readMs = Number.NEGATIVE_INFINITY
  const readTypes = nextRun(async () => {
    const startedMs = monotonicMs()
    const epochs = await regionEpochs(tools.db)
    liveTypes = new Map(
      epochs.map(({ region, probes }) => [region, new Set(probes.flatMap(({ capabilities }) => capabilities))]),
    )
    readMs = startedMs
  })
  return async (projectId, monitors) => {
    if (monotonicMs() - readMs > KEPT_MS) await readTypes()
    const withoutStatus = monitors.filter(({ status }) => status === null).map(({ id }) => id)
    const [checkedAt, since] = await Promise.all([
      lastCheckedAt(projectId, monitors),
      uncheckedSince(tools.db, withoutStatus),
    ])
    return { lastCheckedAt: checkedAt, liveTypes, uncheckedSince: since }
  }
}
