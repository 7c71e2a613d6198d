import type { Pause } from '../platform/clock.ts'
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
export async function replacedMonitor(
  tools: Pick<MonitorTools, 'secrets' | 'checkLiteral'>,
  caller: Caller,
  stored: StoredMonitor,
  body: MonitorCreate,
  now: Date,
  pause: Pause,
): Promise<Rewritten> {
  return await rewritten(tools, stored, now, async before => {
    const { after, problems } = replacementOf(before, body)
    problems.push(...(await monitorProblems(after, tools.checkLiteral, pause, before)))
    const sent = { headers: body.headers ?? null, auth_config: body.auth_config ?? null }
    if (problems.length === 0) assertMayLead(caller, secretsLedElsewhere(before, after, sent))
    return { after, problems }
  })
}
