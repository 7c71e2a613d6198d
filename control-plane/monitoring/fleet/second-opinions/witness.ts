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

/** A probe that is asked to confirm a failure, and its check. */
type Witness = { region: string; probeId: string; spec: CheckSpec; tenant: number }

/**
 * Selects a live probe that can run the check in each region that is not the monitor's. Returns none when the monitor does
 * not allow witnesses. All regions are asked, so that a region with a fault does not hide the answers of the others. The run
 * id selects the probe of a region: every process selects the same one, and another run may select another one.
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
 * The shortest time between two requests to witnesses for a monitor, as a share of the time between checks of a region in
 * doubt: 9 s. The verdict asks a second time in a chain when it is 10 s or more after the first failure.
 */
const MIN_ASK_INTERVAL_SHARE = 0.3

/** `nowMs` is monotonic. */
function wasAskedRecently({ intervalS, witnessAskedMs }: IndexedMonitor, nowMs: number): boolean {
  const checkIntervalMs = Math.min(intervalS * 1000, DOUBT_RECHECK_DELAY_MS)
  return nowMs - (witnessAskedMs ?? Number.NEGATIVE_INFINITY) < checkIntervalMs * MIN_ASK_INTERVAL_SHARE
}

/** The maximum of concurrent checks of a probe as a witness, because it also has its own monitors. */
const MAX_CONCURRENT_WITNESS_RUNS = 250
/** A tenant may use at most this many times the free capacity, as on the probe. A single tenant reaches 200. */
const MAX_SHARE_OF_FREE = 4

function hasCapacity(runs: InFlightRuns, session: ProbeSession, tenant: number): boolean {
  const { all, ofTenant } = countWitnessRuns(runs, session, tenant)
  return ofTenant < MAX_SHARE_OF_FREE * (MAX_CONCURRENT_WITNESS_RUNS - all)
}

/**
 * Queues the check for those witnesses that are connected to this process, each with its own run id. Returns their sessions,
 * and the number of witnesses without capacity.
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
  const connected = witnesses.filter(({ probeId }) => sessions.has(probeId))
  const given = connected.flatMap(({ probeId, spec, tenant }) => {
    const session = sessions.get(probeId)!
    const runId = newRunId()
    const { monitorId, configVersion, scheduledAtMs } = hint
    const run = { runId, monitorId, trigger: Trigger.WITNESS, scheduledAtMs, spec, tenant }
    if (!hasCapacity(runs, session, tenant) || !queueRun(session.syncQueue, run)) return []
    trackRun(runs, runId, session, nowMs, { monitorId, configVersion, scheduledAtMs, tenant })
    return [session]
  })
  if (given.length > 0) entry.witnessAskedMs = nowMs
  return { given, busy: connected.length - given.length }
}

/** Headers that cannot contain a secret. */
const SAFE_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'user-agent',
])

/** Returns the check of a witness, or null when witnesses are not allowed. It records no screenshots and no certificates. */
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

/** Only the query of an http(s) address can contain a secret. The query of a dns address is the question itself. */
const isHttpUrl = (url: string) => /^https?:/i.test(url)

const mayHoldSecret = (header: string) => !SAFE_HEADERS.has(header.toLowerCase())

/** Reduces a check to whether the address answers. Without its credentials the content of the answer has no meaning. */
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
