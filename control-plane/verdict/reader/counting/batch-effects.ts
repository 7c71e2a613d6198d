import type { NewDisagreement } from '../../../monitoring/fleet/probes/outlier.ts'
import type { VerdictChange } from '../../core/decision-actions.ts'
import type { Decision, ImmediateCheckRequest, MonitorState, RegionState } from '../../core/types.ts'
import type { ResultRefusal } from '../live-sets/live-sets.ts'
import type { ObservedCertificate } from './certificates.ts'

/** The effects of a run of results that are not stored yet. */
export type BatchEffects = {
  changes: Map<string, VerdictChange>
  /** the states before these changes */
  statesBefore: Map<string, MonitorState>
  /** states that may be stored later: since when, in JetStream time, by monitor */
  unstored: UnstoredMonitors
  asks: { monitorId: string; ask: ImmediateCheckRequest }[]
  /** states to send to the probes */
  regionStates: { monitorId: string; region: string; state: RegionState }[]
  disagreements: NewDisagreement[]
  /** certificates to store: new ones, and known ones about once a day, by monitor and region */
  certificates: Map<string, ObservedCertificate>
  /** the counters for the current region, by kind */
  counts: ResultCounts
  /** the counters of all regions */
  countsByRegion: Map<string, ResultCounts>
  /** by region, the number of failures that its probe doubts */
  doubted: Map<string, number>
  /** number of results that were read again after a restart */
  replayed: number
}

/** Monitors whose state in memory is not stored, each with the JetStream time since when. */
export type UnstoredMonitors = Map<string, number>

type ResultCounts = Record<Decision['kind'] | ResultRefusal, number>

const createResultCounts = (): ResultCounts => ({
  counted: 0,
  out_of_band: 0,
  history: 0,
  refused_future: 0,
  refused_epoch: 0,
  refused_probe: 0,
})

export function createBatchEffects(): BatchEffects {
  return {
    changes: new Map(),
    statesBefore: new Map(),
    unstored: new Map(),
    asks: [],
    regionStates: [],
    disagreements: [],
    certificates: new Map(),
    counts: createResultCounts(),
    countsByRegion: new Map(),
    doubted: new Map(),
    replayed: 0,
  }
}

/**
 * Selects the counters for the next results. To be called once a message, because all its results are of one region.
 */
export function selectRegionCounts(effects: BatchEffects, region: string): void {
  effects.counts = effects.countsByRegion.get(region) ?? createResultCounts()
  effects.countsByRegion.set(region, effects.counts)
}

export function countDoubted({ doubted }: BatchEffects, region: string): void {
  doubted.set(region, (doubted.get(region) ?? 0) + 1)
}
