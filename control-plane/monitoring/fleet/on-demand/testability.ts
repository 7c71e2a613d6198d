import { validationError } from '../../../foundation/web/server/errors.ts'
import { listConfigurationIssues } from '../../monitors/settings/configuration-issues.ts'
import { MonitorCreate } from '../../monitors/settings/schema.ts'
import type { StoredMonitor } from '../../monitors/types.ts'

/** Throws 400 for a monitor that probes could not look at: of a type without checks, or incomplete. */
export function assertTestable(draft: StoredMonitor): void {
  if (draft.type === 'heartbeat') {
    const message = 'a heartbeat monitor cannot be tested: it waits for your pings, there is nothing to check'
    throw validationError([{ path: 'type', message }])
  }
  const issues = listConfigurationIssues(draft)
  if (issues.length > 0) throw validationError(issues.map(message => ({ path: parsePath(message), message })))
}

/** A sentence begins with the field that it is about; "port" is part of the url. */
function parsePath(issue: string): string {
  const [field = ''] = issue.split(' ')
  return Object.hasOwn(MonitorCreate.properties, field) ? field : 'url'
}
