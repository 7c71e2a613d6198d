import { isCheckType } from '../../../../shared/checks/check.ts'
import { findTargetProblem } from '../../../../shared/checks/target.ts'
import type { StoredMonitor } from '../types.ts'

type ConfigurationFields = Pick<StoredMonitor, 'type' | 'url' | 'keyword' | 'heartbeatInterval'>

/**
 * What keeps a monitor from being checked, as sentences for its owner; empty when nothing does (decisions 3.2). A
 * monitor that lacks what its type needs is stored all the same.
 */
export function listConfigurationIssues(monitor: ConfigurationFields): string[] {
  const { type } = monitor
  const urlIssue = findTargetProblem(type, monitor.url)
  const issues = urlIssue === null ? [] : [urlIssue]
  if (type === 'keyword' && monitor.keyword === null) issues.push('keyword is required to check a keyword monitor')
  if (type === 'heartbeat' && monitor.heartbeatInterval === null) {
    issues.push('heartbeat_interval is required to check a heartbeat monitor')
  }
  return issues
}

type ActivityFields = ConfigurationFields & Pick<StoredMonitor, 'isPaused' | 'deletedAt' | 'dataSource'>

/** True when a monitor has a verdict: complete, neither paused nor deleted. */
export function isActive(monitor: ActivityFields): boolean {
  return !monitor.isPaused && monitor.deletedAt === null && listConfigurationIssues(monitor).length === 0
}

/** True when probes have to check a monitor; of a heartbeat, pings tell, of a data source's monitor its document. */
export function isCheckedByProbes(monitor: ActivityFields): boolean {
  return monitor.dataSource === null && isCheckType(monitor.type) && isActive(monitor)
}

/** Which types of checks the live probes of each region can run. */
export type LiveCheckTypes = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Says in which regions of a monitor no live probe can check it, and why there may be no status: a sentence that begins with
 * `no_probe`. Empty for what probes do not check at all.
 */
export function listProbeIssues(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): string[] {
  const regions = listRegionsWithoutProbe(monitor, liveTypes)
  if (regions.length === 0) return []
  return [`no_probe: no live probe in ${regions.join(', ')} can check this monitor`]
}

type RegionalActivityFields = ActivityFields & Pick<StoredMonitor, 'regions'>

/** The regions of a monitor of which no live probe can check it; empty when that is not known. */
export function listRegionsWithoutProbe(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): string[] {
  if (liveTypes === null || !isCheckedByProbes(monitor)) return []
  return monitor.regions.filter(region => !liveTypes.get(region)?.has(monitor.type))
}

/**
 * The same where the other regions decide without those that have no probe (decision 195): no region is waited for in vain.
 * That is not so where none is left, nor where a region has probes of which none can check the monitor.
 */
export function isDecidedByOtherRegions(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): boolean {
  const regions = listRegionsWithoutProbe(monitor, liveTypes)
  return regions.length < monitor.regions.length && regions.every(region => !liveTypes?.get(region)?.size)
}

/** Why a monitor that had a status has none: a sentence that begins with `unchecked` (decision 196). */
export function listUncheckedIssues({ status }: Pick<StoredMonitor, 'status'>, since: Date | undefined): string[] {
  if (status !== null || since === undefined) return []
  return [`unchecked: no check has counted since ${since.toISOString()}; the status is unknown until the next one`]
}
