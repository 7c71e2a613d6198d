import { isCheckType } from '../../shared/check.ts'
import type { StoredMonitor } from './types.ts'

type Configured = Pick<StoredMonitor, 'type' | 'url' | 'keyword' | 'heartbeatInterval'>

/**
 * What keeps a monitor from being checked, as sentences for its owner; empty when nothing does (decisions 3.2). A
 * monitor that lacks what its type needs is stored all the same.
 */
export function configurationIssues(monitor: Configured): string[] {
  const { type } = monitor
  const issues: string[] = []
  if (type !== 'heartbeat' && monitor.url === null) issues.push(`url is required to check ${withArticle(type)} monitor`)
  if (type === 'keyword' && monitor.keyword === null) issues.push('keyword is required to check a keyword monitor')
  if (type === 'heartbeat' && monitor.heartbeatInterval === null) {
    issues.push('heartbeat_interval is required to check a heartbeat monitor')
  }
  if (!isCheckType(type)) issues.push(`${type} monitors are not checked by this version yet`)
  return issues
}

/** True when probes have to check a monitor: of a type they run, complete, neither paused nor deleted. */
export function isChecked(monitor: Configured & Pick<StoredMonitor, 'isPaused' | 'deletedAt'>): boolean {
  return !monitor.isPaused && monitor.deletedAt === null && configurationIssues(monitor).length === 0
}

function withArticle(type: string): string {
  return type === 'http' ? 'an http' : `a ${type}`
}
