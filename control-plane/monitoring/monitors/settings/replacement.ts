import { unmaskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { unmaskAuth } from './credentials.ts'
import { type MonitorFields, toCreatedFields } from './fields.ts'
import type { MonitorCreate } from './schema.ts'

/**
 * Replaces a stored monitor by a create body. Fields that the body does not name get their defaults, and masks keep the
 * stored values. `problems`: masks without a stored value.
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
