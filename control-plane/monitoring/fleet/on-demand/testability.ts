import { validationError } from '../../../foundation/web/server/errors.ts'
import { listConfigurationIssues } from '../../monitors/settings/configuration-issues.ts'
import { MonitorCreate } from '../../monitors/settings/schema.ts'
import type { StoredMonitor } from '../../monitors/types.ts'

/** Throws 400 for a monitor that probes cannot check: a heartbeat, or one that is incomplete. */
export function assertTestable(draft: StoredMonitor): void {
  if (draft.type === 'heartbeat') {
    const message = 'a heartbeat monitor cannot be tested, because it is not checked by probes'
    throw validationError([{ path: 'type', message }])
  }
  const issues = listConfigurationIssues(draft)
  if (issues.length > 0) throw validationError(issues.map(message => ({ path: parsePath(message), message })))
}

/** An issue begins with the name of its field. "port" belongs to url. */
function parsePath(issue: string): string {
  const [field = ''] = issue.split(' ')
  return Object.hasOwn(MonitorCreate.properties, field) ? field : 'url'
}
