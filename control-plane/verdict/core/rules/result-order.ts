import type { HighWaterMark, HistoryReason, MonitorState, Policy, RegionTally, VerdictResult } from '../types.ts'

/** How far ahead of JetStream's clock a result may be scheduled, in ms. */
const MAX_FUTURE_MS = 5000

/**
 * How far ahead of JetStream's clock a result and a high-water mark may be, in ms. A mark that is further ahead comes
 * from before the clock was set back.
 */
export type ClockTolerance = { futureMs: number; highWaterMarkMs: number }
export const DEFAULT_TOLERANCE: ClockTolerance = { futureMs: MAX_FUTURE_MS, highWaterMarkMs: MAX_FUTURE_MS }
/** For results that are read again: what is stored is newer than they are. */
export const REPLAY_TOLERANCE: ClockTolerance = { futureMs: MAX_FUTURE_MS, highWaterMarkMs: Number.POSITIVE_INFINITY }

/** Why a result of this configuration or region never counts; null if its cell decides. */
export function checkConfigVersion(state: MonitorState, result: VerdictResult, policy: Policy): HistoryReason | null {
  if (result.configVersion < policy.configVersion || result.configVersion < state.configVersion) return 'older_config'
  if (result.configVersion > policy.configVersion) return 'newer_config'
  return policy.regions.includes(result.region) ? null : 'region_not_watched'
}

/**
 * Only the highest (config version, epoch) counts, and each (scheduled time, attempt) once and in order. A high-water
 * mark later than `latestMs` is ignored: it would make everything history until then.
 */
export function checkResultOrder(fence: HighWaterMark, result: VerdictResult, latestMs: number): HistoryReason | null {
  if (isOlderGeneration(result, fence)) return 'older_epoch'
  if (fence.scheduledAtMs > latestMs) return null
  if (result.scheduledAtMs < fence.scheduledAtMs) return 'not_newer'
  return result.scheduledAtMs === fence.scheduledAtMs && result.attempt <= fence.attempt ? 'not_newer' : null
}

/** A late result of a newer generation is history. From then on all results of the older generation are history too. */
export function raiseGeneration(cell: RegionTally, result: VerdictResult): RegionTally {
  if (compareGeneration(result, cell.fence) <= 0) return cell
  const { scheduledAtMs, attempt } = cell.fence
  return { ...cell, fence: { configVersion: result.configVersion, epoch: result.epoch, scheduledAtMs, attempt } }
}

export function isOlderGeneration(result: VerdictResult, fence: HighWaterMark): boolean {
  return compareGeneration(result, fence) < 0
}

type Generation = { configVersion: number; epoch: number }

function compareGeneration(a: Generation, b: Generation): number {
  return a.configVersion - b.configVersion || a.epoch - b.epoch
}
