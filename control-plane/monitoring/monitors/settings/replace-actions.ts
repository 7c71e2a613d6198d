import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { type ApiCaller, assertMayRedirectSecrets } from '../../../foundation/web/auth/authentication.ts'
import { findRedirectedSecrets } from '../../../foundation/web/masked-secrets/secret-redirect.ts'
import { computeRewrite, type MonitorRewrite, type MonitorTools } from '../actions.ts'
import type { StoredMonitor } from '../types.ts'
import { findMonitorProblems } from './problems.ts'
import { buildReplacement } from './replacement.ts'
import type { MonitorCreate } from './schema.ts'

/**
 * Computes the result of replacing a stored monitor, whose row is locked, by a create body, including fields that an
 * update does not accept. Stores nothing. Throws 400, and 403 when stored secrets would be sent to another origin
 * (`assertMayRedirectSecrets`).
 */
export async function computeReplacement(
  tools: Pick<MonitorTools, 'secrets' | 'checkLiteral'>,
  caller: ApiCaller,
  stored: StoredMonitor,
  body: MonitorCreate,
  now: Date,
  pause: YieldPoint,
): Promise<MonitorRewrite> {
  return await computeRewrite(tools, stored, now, async before => {
    const { after, problems } = buildReplacement(before, body)
    problems.push(...(await findMonitorProblems(after, tools.checkLiteral, pause, before)))
    const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
    if (problems.length === 0) assertMayRedirectSecrets(caller, findRedirectedSecrets(before, after, sent))
    return { after, problems }
  })
}
