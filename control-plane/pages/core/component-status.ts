import type { StoredComponent } from './records.ts'
import type { ComponentStatus, DisplayStatus } from './types.ts'

const STATUS_BY_MONITOR = { up: 'operational', degraded: 'degraded', down: 'outage' } as const

/** What its monitor says, else what was set by hand. A monitor that is paused or has no verdict yet says nothing. */
export function getComponentStatus({ monitor, status }: Pick<StoredComponent, 'monitor' | 'status'>): ComponentStatus {
  if (monitor === null) return status
  return monitor.isPaused || monitor.status === null ? 'unknown' : STATUS_BY_MONITOR[monitor.status]
}

const FROM_BEST = ['operational', 'unknown', 'maintenance', 'degraded', 'outage'] as const

/** The worst of some; `unknown` when there are none. */
export function pickWorstStatus(statuses: readonly DisplayStatus[]): DisplayStatus {
  const worst = Math.max(...statuses.map(status => FROM_BEST.indexOf(status)))
  return FROM_BEST[worst] ?? 'unknown'
}
