import { assertMayLead, type Caller } from '../web/auth.ts'
import { secretsLedElsewhere } from '../web/kept-secrets.ts'
import { type MonitorTools, rewriteMonitor } from './actions.ts'
import { monitorProblems } from './problems.ts'
import { replacementOf } from './replacement.ts'
import type { MonitorCreate } from './schema.ts'

/**
 * Makes a stored monitor what a create body says, also where the update body has no field for it. Throws 404, 400, and
 * 403 where stored secrets would go to another origin (assertMayLead).
 */
export function replaceMonitor(tools: MonitorTools, caller: Caller, id: string, body: MonitorCreate, now: Date) {
  return rewriteMonitor(tools, caller.projectId, id, now, before => {
    const { after, problems } = replacementOf(before, body)
    problems.push(...monitorProblems(after, tools.checkLiteral))
    const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
    if (problems.length === 0) assertMayLead(caller, secretsLedElsewhere(before, after, sent))
    return { after, problems }
  })
}
