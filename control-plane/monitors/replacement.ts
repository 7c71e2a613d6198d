import type { Detail } from '../web/errors.ts'
import { unmaskHeaders } from '../web/header-map.ts'
import { unmaskAuth } from './credentials.ts'
import { fieldsOfCreate, type MonitorFields } from './fields.ts'
import type { MonitorCreate } from './schema.ts'

/**
 * What a stored monitor becomes by a create body: what the body does not name has its default again, masks keep what is
 * stored. `problems`: masks with nothing behind them.
 */
export function replacementOf(
  before: MonitorFields,
  body: MonitorCreate,
): { after: MonitorFields; problems: Detail[] } {
  const sent = fieldsOfCreate(body)
  const { headers, problems } = unmaskHeaders(sent.headers ?? {}, before.headers, 'headers')
  const auth = unmaskAuth(sent, before)
  return {
    after: { ...sent, headers: sent.headers && headers, authConfig: auth.authConfig },
    problems: [...problems, ...auth.problems],
  }
}
