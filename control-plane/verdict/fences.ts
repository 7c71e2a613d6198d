import type { Cell, Counted, Fence, HistoryReason, MonitorState, Policy } from './types.ts'

/** How far ahead of JetStream's clock a result may be scheduled, in ms (decisions 4.6). */
export const FUTURE_LIMIT_MS = 5000

/** Why a result of this configuration or region never counts; null when its cell decides. */
export function refuseConfig(state: MonitorState, result: Counted, policy: Policy): HistoryReason | null {
  if (result.configVersion < policy.configVersion || result.configVersion < state.configVersion) return 'older_config'
  if (result.configVersion > policy.configVersion) return 'newer_config'
  return policy.regions.includes(result.region) ? null : 'region_not_watched'
}

/** Only the highest (config version, epoch) counts, each (scheduled time, attempt) once and in order (decisions 4.6). */
export function refuseOrder(fence: Fence, result: Counted): HistoryReason | null {
  if (isOlderGeneration(result, fence)) return 'older_epoch'
  if (result.scheduledAtMs < fence.scheduledAtMs) return 'not_newer'
  return result.scheduledAtMs === fence.scheduledAtMs && result.attempt <= fence.attempt ? 'not_newer' : null
}

/** A late result of a newer generation is history, and so is from then on everything of the older one. */
export function raiseGeneration(cell: Cell, result: Counted): Cell {
  if (compareGeneration(result, cell.fence) <= 0) return cell
  const { scheduledAtMs, attempt } = cell.fence
  return { ...cell, fence: { configVersion: result.configVersion, epoch: result.epoch, scheduledAtMs, attempt } }
}

export function isOlderGeneration(result: Counted, fence: Fence): boolean {
  return compareGeneration(result, fence) < 0
}

type Generation = { configVersion: number; epoch: number }

function compareGeneration(a: Generation, b: Generation): number {
  return a.configVersion - b.configVersion || a.epoch - b.epoch
}
