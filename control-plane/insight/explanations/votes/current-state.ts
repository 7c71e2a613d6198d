import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { DATA_SOURCE_REGION, HEARTBEAT_REGION } from '../../../monitoring/monitors/types.ts'
import { buildSingleSourcePolicy } from '../../../verdict/core/rules/single-source.ts'
import { adoptConfig, createMonitorState } from '../../../verdict/core/rules/state.ts'
import type { MonitorState, Policy, RegionAbsences } from '../../../verdict/core/types.ts'
import { applyCheckpoint, type CheckpointContents } from '../../../verdict/reader/checkpoint/checkpoint.ts'
import type { VerdictMonitorRow } from '../../../verdict/reader/counting/policy.ts'
import { loadMonitor, type TrackedMonitors } from '../../../verdict/reader/counting/tracked-monitors.ts'
import { applyAbsences } from '../../../verdict/reader/live-sets/absences.ts'

/** What the verdict knows of a monitor, and the rules by which its votes count. */
export type CurrentVerdict = { state: MonitorState; policy: Policy }

type StoredVerdict = VerdictMonitorRow & { state: MonitorState | null }

/**
 * The state that the reader of the partition has in memory, as far as it is stored: the stored state, updated by the
 * newest checkpoint, under the current configuration. `marked`: the monitor in the checkpoint; null if it is not there.
 */
export function buildCurrentVerdict(
  stored: StoredVerdict,
  marked: CheckpointContents[number] | null,
  absences: RegionAbsences,
  nowMs: number,
): CurrentVerdict {
  const memory: TrackedMonitors = new Map()
  const options = { lookedForVersion: stored.configVersion, isDiscarded: false }
  loadMonitor(memory, stored.id, { ...stored, isPaused: false, isDeleted: false }, options)
  if (marked) applyCheckpoint(memory, [marked])
  applyAbsences(memory, absences)
  const { state, policy } = memory.get(stored.id)!
  return { state: adoptConfig(state, policy!, nowMs), policy: policy! }
}

/** The same for a heartbeat or a value of a data source, whose stored state is always current. */
export function buildSourceVerdict(monitor: StoredMonitor, stored: MonitorState | null): CurrentVerdict {
  const { id, configVersion, type } = monitor
  const state = stored ?? createMonitorState(id, configVersion)
  const isHeartbeat = type === 'heartbeat'
  const timing = isHeartbeat
    ? { intervalMs: (monitor.heartbeatInterval ?? 0) * 1_000, timeoutMs: (monitor.heartbeatGrace ?? 0) * 1_000 }
    : { intervalMs: monitor.intervalSeconds * 1_000, timeoutMs: monitor.timeoutMs }
  const source = isHeartbeat ? HEARTBEAT_REGION : DATA_SOURCE_REGION
  return { state, policy: buildSingleSourcePolicy(source, { configVersion, ...timing }) }
}

/** Whether a monitor has one source instead of probes. */
export const hasSingleSource = ({ type, dataSource }: Pick<StoredMonitor, 'type' | 'dataSource'>): boolean =>
  type === 'heartbeat' || dataSource !== null
