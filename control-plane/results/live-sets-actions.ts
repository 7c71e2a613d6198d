import type { Log } from '../../shared/log.ts'
import { renewEpoch } from '../fleet/actions.ts'
import { isPossibleEpoch } from '../fleet/epochs.ts'
import { monotonicMs, sleep } from '../platform/clock.ts'
import { logNowMs, type Nats } from '../platform/nats.ts'
import { nextRun } from '../platform/next-run.ts'
import type { Db } from '../platform/postgres.ts'
import { absencesNow, type KnownAbsences, noAbsences } from './absences.ts'
import { endWait, isLiveNow, type LiveSets, mayWait, newPatience, type RegionLive } from './live-sets.ts'
import { epochsOfRegions, liveSetsOf, type RegionNow } from './live-sets-store.ts'

/** The live sets of all regions as one process of the role verdict knows them. */
export type KnownLiveSets = {
  of(region: string): RegionLive | undefined
  /** which regions have no probe that can publish, in JetStream's time */
  absences(): KnownAbsences
  /** Reads what has changed. */
  refresh(): Promise<void>
  /**
   * To be called before results of an epoch that is ahead are refused: reads again, and waits for seconds while it may be
   * that PostgreSQL was restored and the fleet is about to give out a higher epoch. Rejects when `signal` ends the wait:
   * what was waited for is read again then, and is not refused.
   */
  await(region: string, epoch: number, probeId: string, signal: AbortSignal): Promise<void>
}

const PAUSE_MS = 250

export async function followLiveSets(tools: { db: Db; nats: Nats; log: Log }): Promise<KnownLiveSets> {
  const sets: LiveSets = new Map()
  const patience = newPatience()
  let absences = noAbsences()
  /** when the newest read that has ended began */
  let readFromMs = Number.NEGATIVE_INFINITY
  const refresh = nextRun(async () => {
    const startedMs = monotonicMs()
    const rows = await update(tools, sets)
    readFromMs = startedMs
    absences = absencesNow(absences, rows, { logMs: logNowMs(tools.nats), monotonicMs: monotonicMs() })
  })
  await refresh()
  return {
    of: region => sets.get(region),
    absences: () => absences,
    refresh,
    async await(region, epoch, probeId, signal) {
      const isAhead = () => epoch > (sets.get(region)?.epoch ?? 0)
      const calledMs = monotonicMs()
      // the epoch may have been given out after the newest read began; at most four reads a second
      const sinceReadMs = calledMs - readFromMs
      if (sinceReadMs < PAUSE_MS) await sleep(PAUSE_MS - sinceReadMs, signal)
      if (readFromMs < calledMs) await refresh()
      if (!isAhead() || !sets.has(region) || !isPossibleEpoch(epoch, logNowMs(tools.nats))) return
      // of a probe that is not live nothing counts in any case
      const isWorthIt = () => isAhead() && isLiveNow(sets.get(region), probeId)
      while (!signal.aborted && isWorthIt() && mayWait(patience, region, monotonicMs())) {
        await sleep(PAUSE_MS, signal)
        await refresh()
      }
      if (!isAhead()) endWait(patience, region, monotonicMs())
      else if (signal.aborted) throw new Error('the reader ends while it waits for an epoch')
    },
  }
}

/**
 * What is in force never goes back: where PostgreSQL has an older epoch than this process read before, it gets a higher one,
 * and until then the newer live set counts.
 */
async function update({ db, log }: { db: Db; log: Log }, sets: LiveSets): Promise<RegionNow[]> {
  const rows = await epochsOfRegions(db)
  const stored = new Map(rows.map(({ region, epoch }) => [region, epoch]))
  for (const [region, { epoch }] of sets) {
    if (epoch <= (stored.get(region) ?? 0)) continue
    log.warn({ region, epoch }, 'PostgreSQL does not know this epoch any more')
    await renewEpoch(db, { region, epoch, probeIds: null })
    stored.set(region, Number.POSITIVE_INFINITY)
  }
  const changed = [...stored].filter(([region, epoch]) => epoch !== sets.get(region)?.epoch).map(([region]) => region)
  if (changed.length > 0) for (const [region, live] of await liveSetsOf(db, changed)) sets.set(region, live)
  return rows
}
