import { unmaskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { unmaskAuth } from './credentials.ts'
import { type MonitorFields, toCreatedFields } from './fields.ts'
import type { MonitorCreate } from './schema.ts'

/**
 * What a stored monitor becomes by a create body: what the body does not name has its default again, masks keep what is
 * stored. `problems`: masks with nothing behind them.
 */
export function buildReplacement(
  before: MonitorFields,
  body: MonitorCreate,
): { after: MonitorFields; problems: ErrorDetail[] } {
  const sent = toCreatedFields(body)
  const { headers, problems } = unmaskHeaders(sent.headers ?? {}, before.headers, 'headers')
  const auth = unmaskAuth(sent, before)
  return {
    after: { ...sent, headers: sent.headers && headers, authConfig: auth.authConfig },
    problems: [...problems, ...auth.problems],
  }
}
