import type { CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import type { RunHint } from '../../shared/subjects.ts'
import { type Book, planOf } from './book.ts'
import { needOf, ownerOf, probeFor } from './plan.ts'

/** The probe that is to check at once, and what; `spec` undefined: what it is assigned anyway. */
export type Run = { probeId: string; spec: CheckSpec | undefined; tenant?: number }

/** The probe that checks the monitor; with `notProbeId` naming that one, another live probe of the region. */
export function runOfMonitor(book: Book, region: string, { monitorId, notProbeId }: RunHint): Run | null {
  const plan = planOf(book, region)
  const owner = ownerOf(plan, monitorId)
  const { spec, tenant } = book.roster.entries.get(monitorId) ?? {}
  if (!owner || !spec) return null
  const probeId = owner === notProbeId ? probeFor(plan, monitorId, needOf(spec), notProbeId) : owner
  // the probe that checks it anyway has the check, or gets it first: its result is to count
  return probeId === null ? null : { probeId, spec: probeId === owner ? undefined : spec, tenant }
}
