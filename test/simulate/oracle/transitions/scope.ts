import type { CommittedTransition, MonitorHistory, SettingsPeriod, TargetOutage } from '../chronicle.ts'
import type { FaultIndex } from '../faults-under-way.ts'

/** One monitor with what happened to it. */
export type Scope = {
  index: number
  monitor: MonitorHistory
  outages: TargetOutage[]
  /** outages of many hosts, of all monitors */
  shared: TargetOutage[]
  transitions: CommittedTransition[]
  faultIndex: FaultIndex
  probes: number
  endMs: number
  /** all regions of the installation */
  regions: readonly string[]
}

export const settingsAt = ({ settings }: MonitorHistory, atMs: number): SettingsPeriod =>
  settings.findLast(({ fromMs }) => fromMs <= atMs) ?? settings[0]!

/** How long before an outage a change of the monitor may still have an effect. */
export const CHANGE_LINGERS_MS = 120_000
