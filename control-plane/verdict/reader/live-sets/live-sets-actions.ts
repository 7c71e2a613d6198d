import type { Log } from '../../../../shared/process/log.ts'
import { coalesce } from '../../../foundation/platform/concurrency/coalesce.ts'
import { jetstreamNowMs, type Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import type { EngineClocks } from '../../../foundation/platform/time/engine-clocks.ts'
import { renewEpoch } from '../../../monitoring/fleet/live-sets/actions.ts'
import { isPlausibleEpoch } from '../../../monitoring/fleet/live-sets/epochs.ts'
import type { HistoryPosition } from '../../../monitoring/monitors/store.ts'
import { createKnownAbsences, type KnownAbsences, updateAbsences } from './absences.ts'
import {
  createEpochWaits,
  endEpochWait,
  isLiveNow,
  type LiveSets,
  mayWaitForEpoch,
  type RegionLiveSet,
} from './live-sets.ts'
import { loadFollowed, loadLiveSets, type RegionEpochRow } from './live-sets-store.ts'

/** The live sets of all regions as one process of the role verdict knows them. */
export type KnownLiveSets = {
  of(region: string): RegionLiveSet | undefined
  /** the regions without a probe that can publish, in JetStream time */
  absences(): KnownAbsences
  /** Reads what has changed. */
  refresh(): Promise<void>
  /**
   * To be called before results of an epoch that is ahead are refused. Reads again, and waits some seconds if
   * PostgreSQL may have been restored and the fleet is about to give out a higher epoch. Rejects if `signal` ends the
   * wait; the results are then read again and not refused.
   */
  waitForEpoch(region: string, epoch: number, probeId: string, signal: AbortSignal): Promise<void>
}

const POLL_INTERVAL_MS = 250

type LiveSetTools = {
  db: Db
  nats: Nats
  log: Log
  /** learns the time of the database with each read */
  clocks?: Pick<EngineClocks, 'learnPostgres'>
  /** gets the position of the database with each read */
  followHistory: (now: HistoryPosition) => void
}

export async function createKnownLiveSets(tools: LiveSetTools): Promise<KnownLiveSets> {
  const sets: LiveSets = new Map()
  const waits = createEpochWaits()
  let absences = createKnownAbsences()
  /** when the newest completed read began */
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
      // results of a probe that is not live never count
      const isWorthIt = () => isAhead() && isLiveNow(sets.get(region), probeId)
      while (!signal.aborted && isWorthIt() && mayWaitForEpoch(waits, region, monotonicMs())) {
        await sleep(POLL_INTERVAL_MS, signal)
        await refresh()
      }
      if (!isAhead()) endEpochWait(waits, region, monotonicMs())
      else if (signal.aborted) throw new Error('the reader stopped while waiting for an epoch')
    },
  }
}

/**
 * Reads changed live sets. Epochs never go back: if PostgreSQL has an older epoch than this process read before, the
 * region gets a higher one. Until then the newer live set counts.
 */
async function update({ db, log, clocks, followHistory }: LiveSetTools, sets: LiveSets): Promise<RegionEpochRow[]> {
  const sentMs = monotonicMs()
  const { rows, history, nowMs } = await loadFollowed(db)
  clocks?.learnPostgres({ nowMs, sentMs, receivedMs: monotonicMs() })
  followHistory(history)
  const stored = new Map(rows.map(({ region, epoch }) => [region, epoch]))
  for (const [region, { epoch }] of sets) {
    if (epoch <= (stored.get(region) ?? 0)) continue
    log.warn({ region, epoch }, 'PostgreSQL has an older epoch than before; raising it')
    await renewEpoch(db, { region, epoch, probeIds: null })
    stored.set(region, Number.POSITIVE_INFINITY)
  }
  const changed = [...stored].filter(([region, epoch]) => epoch !== sets.get(region)?.epoch).map(([region]) => region)
  if (changed.length > 0) for (const [region, live] of await loadLiveSets(db, changed)) sets.set(region, live)
  return rows
}
