import { assertMayLead, type Caller } from '../web/auth.ts'
import { secretsLedElsewhere } from '../web/kept-secrets.ts'
import { type MonitorTools, type Rewritten, rewritten } from './actions.ts'
import { monitorProblems } from './problems.ts'
import { replacementOf } from './replacement.ts'
import type { MonitorCreate } from './schema.ts'
import type { StoredMonitor } from './types.ts'

/**
 * What a stored monitor, whose row is locked, becomes by a create body, also where the update body has no field for it.
 * Nothing is stored. Throws 400, and 403 where stored secrets would go to another origin (assertMayLead).
 */
export function replacedMonitor(
  tools: Pick<MonitorTools, 'secrets' | 'checkLiteral'>,
  caller: Caller,
  stored: StoredMonitor,
  body: MonitorCreate,
  now: Date,
): Rewritten {
  return rewritten(tools, stored, now, before => {
    const { after, problems } = replacementOf(before, body)
    problems.push(...monitorProblems(after, tools.checkLiteral))
    const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
    if (problems.length === 0) assertMayLead(caller, secretsLedElsewhere(before, after, sent))
    return { after, problems }
  })
}
