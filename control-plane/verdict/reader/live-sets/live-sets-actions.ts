import type { Log } from '../../../../shared/process/log.ts'
import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import { jetstreamNowMs, type Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { renewEpoch } from '../../../monitoring/fleet/live-sets/actions.ts'
import { isPlausibleEpoch } from '../../../monitoring/fleet/live-sets/epochs.ts'
import { createKnownAbsences, type KnownAbsences, updateAbsences } from './absences.ts'
import {
  createEpochWaits,
  endEpochWait,
  isLiveNow,
  type LiveSets,
  mayWaitForEpoch,
  type RegionLiveSet,
} from './live-sets.ts'
import { loadLiveSets, loadRegionEpochs, type RegionEpochRow } from './live-sets-store.ts'

/** The live sets of all regions as one process of the role verdict knows them. */
export type KnownLiveSets = {
  of(region: string): RegionLiveSet | undefined
  /** which regions have no probe that can publish, in JetStream's time */
  absences(): KnownAbsences
  /** Reads what has changed. */
  refresh(): Promise<void>
  /**
   * To be called before results of an epoch that is ahead are refused: reads again, and waits for seconds while it may be
   * that PostgreSQL was restored and the fleet is about to give out a higher epoch. Rejects when `signal` ends the wait:
   * what was waited for is read again then, and is not refused.
   */
  waitForEpoch(region: string, epoch: number, probeId: string, signal: AbortSignal): Promise<void>
}

const POLL_INTERVAL_MS = 250

export async function createKnownLiveSets(tools: { db: Db; nats: Nats; log: Log }): Promise<KnownLiveSets> {
  const sets: LiveSets = new Map()
  const waits = createEpochWaits()
  let absences = createKnownAbsences()
  /** when the newest read that has ended began */
  let readFromMs = Number.NEGATIVE_INFINITY
  const refresh = coalesce(async () => {
    const startedMs = monotonicMs()
    const rows = await update(tools, sets)
    readFromMs = startedMs
    absences = updateAbsences(absences, rows, { logMs: jetstreamNowMs(tools.nats), monotonicMs: monotonicMs() })
  })
  await refresh()
  return {
    of: region => sets.get(region),
    absences: () => absences,
    refresh,
    async waitForEpoch(region, epoch, probeId, signal) {
      const isAhead = () => epoch > (sets.get(region)?.epoch ?? 0)
      const calledMs = monotonicMs()
      // the epoch may have been given out after the newest read began; at most four reads a second
      const sinceReadMs = calledMs - readFromMs
      if (sinceReadMs < POLL_INTERVAL_MS) await sleep(POLL_INTERVAL_MS - sinceReadMs, signal)
      if (readFromMs < calledMs) await refresh()
      if (!isAhead() || !sets.has(region) || !isPlausibleEpoch(epoch, jetstreamNowMs(tools.nats))) return
      // of a probe that is not live nothing counts in any case
      const isWorthIt = () => isAhead() && isLiveNow(sets.get(region), probeId)
      while (!signal.aborted && isWorthIt() && mayWaitForEpoch(waits, region, monotonicMs())) {
        await sleep(POLL_INTERVAL_MS, signal)
        await refresh()
      }
      if (!isAhead()) endEpochWait(waits, region, monotonicMs())
      else if (signal.aborted) throw new Error('the reader ends while it waits for an epoch')
    },
  }
}

/**
 * What is in force never goes back: where PostgreSQL has an older epoch than this process read before, it gets a higher one,
 * and until then the newer live set counts.
 */
async function update({ db, log }: { db: Db; log: Log }, sets: LiveSets): Promise<RegionEpochRow[]> {
  const rows = await loadRegionEpochs(db)
  const stored = new Map(rows.map(({ region, epoch }) => [region, epoch]))
  for (const [region, { epoch }] of sets) {
    if (epoch <= (stored.get(region) ?? 0)) continue
    log.warn({ region, epoch }, 'PostgreSQL does not know this epoch any more')
    await renewEpoch(db, { region, epoch, probeIds: null })
    stored.set(region, Number.POSITIVE_INFINITY)
  }
  const changed = [...stored].filter(([region, epoch]) => epoch !== sets.get(region)?.epoch).map(([region]) => region)
  if (changed.length > 0) for (const [region, live] of await loadLiveSets(db, changed)) sets.set(region, live)
  return rows
}
