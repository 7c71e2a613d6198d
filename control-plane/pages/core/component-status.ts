import type { StoredComponent } from './records.ts'
import type { ComponentStatus, DisplayStatus } from './types.ts'

const STATUS_BY_MONITOR = { up: 'operational', degraded: 'degraded', down: 'outage' } as const

/** The status of its monitor, else the manual one. A monitor that is paused or has no verdict gives `unknown`. */
export function getComponentStatus({ monitor, status }: Pick<StoredComponent, 'monitor' | 'status'>): ComponentStatus {
  if (monitor === null) return status
  return monitor.isPaused || monitor.status === null ? 'unknown' : STATUS_BY_MONITOR[monitor.status]
}

const FROM_BEST = ['operational', 'unknown', 'maintenance', 'degraded', 'outage'] as const

/** The worst of the given statuses; `unknown` when there are none. */
export function pickWorstStatus(statuses: readonly DisplayStatus[]): DisplayStatus {
  const worst = Math.max(...statuses.map(status => FROM_BEST.indexOf(status)))
  return FROM_BEST[worst] ?? 'unknown'
}
