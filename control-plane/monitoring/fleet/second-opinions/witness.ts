import type { CheckSpec } from '../../../../shared/checks/check.ts'
import { DOUBT_RECHECK_DELAY_MS } from '../../../../shared/checks/rechecks.ts'
import { Trigger } from '../../../../shared/checks/result.ts'
import type { WitnessHint } from '../../../../shared/nats/subjects.ts'
import type { AssignmentTable } from '../assignments/assignment-table.ts'
import type { IndexedMonitor } from '../assignments/monitor-index.ts'
import { getRequiredCapability, pickProbe } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import { countWitnessRuns, type InFlightRuns, trackRun } from '../on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../sessions/session.ts'
import { queueRun } from '../sessions/sync-queue.ts'

/** A probe that is to confirm a failure, and what it checks. */
export type Witness = { region: string; probeId: string; spec: CheckSpec; tenant: number }

/**
 * A live probe of each region that is not the monitor's, which can run the check; none where the monitor may not be checked
 * elsewhere. All regions are asked, so that a region in trouble does not hide what the others see. The probe of a region is chosen
 * by the run: every process comes to the same one, and the next time it may be another.
 */
export function pickWitnesses(
  { monitors: monitorIndex, plans }: AssignmentTable,
  { runId, monitorId, configVersion }: WitnessHint,
): Witness[] {
  const entry = monitorIndex.entries.get(monitorId)
  const spec = entry?.configVersion === configVersion ? toWitnessSpec(entry) : null
  if (!entry || !spec) return []
  return [...plans.keys()]
    .filter(region => !entry.regions.includes(region))
    .flatMap(region => {
      const probeId = pickProbe(plans.get(region)!, runId, getRequiredCapability(spec))
      return probeId === null ? [] : [{ region, probeId, spec, tenant: entry.tenant }]
    })
}

/**
 * Witnesses are asked at most this often for a monitor, as a share of the time between checks of a region in doubt: 9 s. The
 * verdict asks twice in a chain when the second time is 10 s or more after the first failure.
 */
const MIN_ASK_INTERVAL_SHARE = 0.3

/** `nowMs` is monotonic. */
function wasAskedRecently({ intervalS, witnessAskedMs }: IndexedMonitor, nowMs: number): boolean {
  const paceMs = Math.min(intervalS * 1000, DOUBT_RECHECK_DELAY_MS)
  return nowMs - (witnessAskedMs ?? Number.NEGATIVE_INFINITY) < paceMs * MIN_ASK_INTERVAL_SHARE
}

/** The maximum of checks that a probe makes as a witness at a time: it has monitors of its own. */
const MAX_CONCURRENT_WITNESS_RUNS = 250
/** A tenant may have at most this many times the checks that are still free, as on the probe: one alone stops at 200. */
const MAX_SHARE_OF_FREE = 4

function hasRoom(runs: InFlightRuns, session: ProbeSession, tenant: number): boolean {
  const { all, ofTenant } = countWitnessRuns(runs, session, tenant)
  return ofTenant < MAX_SHARE_OF_FREE * (MAX_CONCURRENT_WITNESS_RUNS - all)
}

/**
 * Gives the check to those of its witnesses that are linked to this process, each with a run id of its own. Returns their sessions,
 * and how many witnesses have too much to do.
 */
export function queueWitnessRuns(
  { assignments: table, sessions, runs }: Pick<FleetContext, 'assignments' | 'sessions' | 'runs'>,
  hint: WitnessHint,
  nowMs: number,
  newRunId: () => string,
): { given: ProbeSession[]; busy: number } {
  const entry = table.monitors.entries.get(hint.monitorId)
  const witnesses = pickWitnesses(table, hint)
  if (!entry || witnesses.length === 0 || wasAskedRecently(entry, nowMs)) return { given: [], busy: 0 }
  const linked = witnesses.filter(({ probeId }) => sessions.has(probeId))
  const given = linked.flatMap(({ probeId, spec, tenant }) => {
    const session = sessions.get(probeId)!
    const runId = newRunId()
    const { monitorId, configVersion, scheduledAtMs } = hint
    const run = { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec, tenant }
    if (!hasRoom(runs, session, tenant) || !queueRun(session.syncQueue, run)) return []
    trackRun(runs, runId, session, nowMs, { monitorId, configVersion, scheduledAtMs, tenant })
    return [session]
  })
  if (given.length > 0) entry.witnessAskedMs = nowMs
  return { given, busy: linked.length - given.length }
}

/** Headers that hold no secret. */
const SAFE_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'user-agent',
])

/** What a witness checks; null: nothing. It leaves no screenshots and no certificates behind. */
export function toWitnessSpec({ spec, witness }: Pick<IndexedMonitor, 'spec' | 'witness'>): CheckSpec | null {
  if (spec === null || witness === undefined) return null
  const plain = { ...spec, screenshotOnFailure: false, screenshotCompare: false, sslCheck: false }
  return witness === 'whole' || !hasCredentials(plain) ? plain : removeCredentials(plain)
}

function hasCredentials({ url, headers, body, auth }: CheckSpec): boolean {
  return (
    auth !== undefined ||
    body !== undefined ||
    (isHttpUrl(url) && url.includes('?')) ||
    Object.keys(headers).some(mayHoldSecret)
  )
}

/** Only an http(s) address can hold a secret there; the query of a dns address is the question itself. */
const isHttpUrl = (url: string) => /^https?:/i.test(url)

const mayHoldSecret = (header: string) => !SAFE_HEADERS.has(header.toLowerCase())

/** Looks only whether the address answers: without what the answer depends on, its content says nothing. */
function removeCredentials(spec: CheckSpec): CheckSpec {
  const { type, url, method, headers } = spec
  return {
    ...spec,
    type: type === 'keyword' ? 'http' : type,
    url: isHttpUrl(url) ? url.replace(/[?#].*$/s, '') : url,
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !mayHoldSecret(name))),
    body: undefined,
    auth: undefined,
    keyword: undefined,
    assertions: [],
  }
}
