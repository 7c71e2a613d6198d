import { isCheckType } from '../../../../shared/checks/check.ts'
import { findTargetProblem } from '../../../../shared/checks/target.ts'
import type { StoredMonitor } from '../types.ts'

type ConfigurationFields = Pick<StoredMonitor, 'type' | 'url' | 'keyword' | 'heartbeatInterval'>

/**
 * Lists why a monitor cannot be checked, as sentences for its owner (docs/design/monitors.md#configuration-issues). A
 * monitor that lacks a field that its type needs is stored nevertheless.
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

/** True when a monitor can have a status: it is complete, and neither paused nor deleted. */
export function isActive(monitor: ActivityFields): boolean {
  return !monitor.isPaused && monitor.deletedAt === null && listConfigurationIssues(monitor).length === 0
}

/** True when probes check a monitor. Heartbeats depend on pings, and monitors of data sources on a document. */
export function isCheckedByProbes(monitor: ActivityFields): boolean {
  return monitor.dataSource === null && isCheckType(monitor.type) && isActive(monitor)
}

/** The check types that the live probes of each region can run. */
export type LiveCheckTypes = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Returns a sentence that begins with `no_probe` and names the regions in which no live probe can check the monitor.
 * Empty for monitors that probes do not check.
 */
export function listProbeIssues(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): string[] {
  const regions = listRegionsWithoutProbe(monitor, liveTypes)
  if (regions.length === 0) return []
  return [`no_probe: no live probe in ${regions.join(', ')} can check this monitor`]
}

type RegionalActivityFields = ActivityFields & Pick<StoredMonitor, 'regions'>

/** Lists the regions of a monitor in which no live probe can check it. Empty when that is unknown. */
export function listRegionsWithoutProbe(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): string[] {
  if (liveTypes === null) return []
  // before the address is parsed: lists do this for each of 10,000 monitors
  const regions = monitor.regions.filter(region => !liveTypes.get(region)?.has(monitor.type))
  return regions.length > 0 && isCheckedByProbes(monitor) ? regions : []
}

/**
 * True when the regions that can check the monitor decide without the others, because these have no probe at all
 * (docs/design/verdict.md). False when no region is left, or when a region has probes of which none can check the monitor:
 * the verdict waits for such a region.
 */
export function isDecidedByOtherRegions(monitor: RegionalActivityFields, liveTypes: LiveCheckTypes | null): boolean {
  const regions = listRegionsWithoutProbe(monitor, liveTypes)
  return regions.length < monitor.regions.length && regions.every(region => !liveTypes?.get(region)?.size)
}

/** Returns a sentence that begins with `data_source_paused` for a monitor of a paused data source. */
export function listSourceIssues({ dataSource }: Pick<StoredMonitor, 'dataSource'>): string[] {
  if (!dataSource?.isPaused) return []
  return ['data_source_paused: the data source is paused; there is no status until it is resumed']
}

/** Returns a sentence that begins with `unchecked` when a monitor lost its status because no check counted. */
export function listUncheckedIssues({ status }: Pick<StoredMonitor, 'status'>, since: Date | undefined): string[] {
  if (status !== null || since === undefined) return []
  return [`unchecked: no check has counted since ${since.toISOString()}; the status is unknown until the next one`]
}
