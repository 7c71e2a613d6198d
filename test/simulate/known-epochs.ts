import { isPlausibleEpoch } from '../../control-plane/monitoring/fleet/live-sets/epochs.ts'
import {
  createKnownAbsences,
  type KnownAbsences,
  updateAbsences,
} from '../../control-plane/verdict/reader/live-sets/absences.ts'
import {
  createEpochWaits,
  endEpochWait,
  isLiveNow,
  type LiveSets,
  mayWaitForEpoch,
  type RegionLiveSet,
} from '../../control-plane/verdict/reader/live-sets/live-sets.ts'
import {
  createRegionCoverage,
  isRegionGone,
  type RegionCoverage,
  updateRegionCoverage,
} from '../../control-plane/verdict/reader/unchecked/region-coverage.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import type { ResultBatch } from '../../shared/checks/result.ts'
import type { Database } from './database.ts'
import type { Hints } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import type { Host } from './time.ts'

/** The live sets and absent regions as one process of the role `verdict` knows them, like `createKnownLiveSets`. */
export type KnownEpochs = {
  of: (region: string) => RegionLiveSet | undefined
  /** Call it for a batch with a newer epoch: reads the epochs again, and returns how many ms to wait before the next try. */
  await: (batch: ResultBatch, epoch: number) => number
  absences: () => KnownAbsences
  coverage: RegionCoverage
}

const REFRESH_WITHIN_MS = 2_000
const PAUSE_MS = 250

export function followEpochs(host: Host, database: Database, stream: JetStream, hints: Hints): KnownEpochs {
  const { machine } = host
  const sets: LiveSets = new Map()
  const epochWaits = createEpochWaits()
  const coverage = createRegionCoverage()
  let absences = createKnownAbsences()

  /** An epoch never decreases: if the database has an older one, the region gets a higher one. */
  function refresh(): boolean {
    if (database.isUnavailable()) return false
    for (const { region, epoch } of database.epochs()) {
      const known = sets.get(region)?.epoch ?? 0
      if (known > epoch) database.saveEpoch(region, database.liveSet(region), known)
      if (known !== epoch) sets.set(region, database.getLiveSet(region))
    }
    return true
  }

  function refreshSoon(): void {
    machine.after(machine.random() * REFRESH_WITHIN_MS, () => {
      if (!refresh()) refreshSoon()
    })
  }

  function readAbsences(): void {
    const { monotonicMs } = machine
    if (!database.isUnavailable())
      absences = updateAbsences(absences, database.regionsNow(), {
        logMs: hints.logNowMs(),
        monotonicMs: monotonicMs(),
      })
    const isGone = (region: string) => isRegionGone(sets.get(region), absences.absences, region)
    updateRegionCoverage(coverage, REGIONS, isGone, monotonicMs())
  }

  refresh()
  readAbsences()
  machine.every(REFRESH_WITHIN_MS, readAbsences)
  database.onEpochs(() => {
    refreshSoon()
    return host.isAlive()
  })
  return {
    of: region => sets.get(region),
    absences: () => absences,
    coverage,
    await({ region, probeId }, epoch) {
      if (!refresh()) return PAUSE_MS
      const isAhead = () => epoch > (sets.get(region)?.epoch ?? 0)
      if (!isAhead()) endEpochWait(epochWaits, region, machine.monotonicMs())
      if (!isAhead() || !sets.has(region) || !isPlausibleEpoch(epoch, stream.nowMs())) return 0
      if (!isLiveNow(sets.get(region), probeId)) return 0
      return mayWaitForEpoch(epochWaits, region, machine.monotonicMs()) ? PAUSE_MS : 0
    },
  }
}
