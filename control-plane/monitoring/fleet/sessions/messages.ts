import {
  type Assignment,
  type Assignments,
  type Heartbeat,
  type Hello,
  RegionState,
} from '../../../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { hasControlCharacter } from '../../../../shared/control-characters.ts'
import type { RunHint } from '../../../../shared/nats/subjects.ts'
import type { CountingDifference } from '../../screenshots/baseline-store.ts'
import { type AssignmentTable, type ChangeReason, findAssignedMonitor } from '../assignments/assignment-table.ts'
import type { IndexedMonitor } from '../assignments/monitor-index.ts'
import type { SyncMessage } from './sync-queue.ts'

/** What the verdict has stored of monitors, by id. `regionState` null: nothing of this region yet. */
export type StoredStates = ReadonlyMap<string, { regionState: string | null }>

/** The region states of the verdict in the protocol of probes. */
const REGION_STATES: Record<string, RegionState> = {
  pending: RegionState.PENDING,
  ok: RegionState.OK,
  degraded: RegionState.DEGRADED,
  failing: RegionState.FAILING,
}

const toRegionState = (state: string | null): RegionState => REGION_STATES[state ?? ''] ?? RegionState.PENDING

/** `differences`: the differences of pages from their baselines, by monitor. */
type AssignmentSources = {
  assignments: AssignmentTable
  region: string
  probeId: string
  states: StoredStates | null
  differences: ReadonlyMap<string, CountingDifference>
}

/** Builds the message for a chunk of ids. Monitors that the probe checks now are upserts, all others removals. */
export function buildAssignments(
  chunk: Extract<SyncMessage, { kind: 'assignments' }>,
  { assignments: table, region, probeId, states, differences }: AssignmentSources,
): Assignments {
  const { isSnapshot, isLast, revision, epoch } = chunk
  const upserts: Assignment[] = []
  const removals: string[] = []
  for (const [id, why] of chunk.ids) {
    const entry = findAssignedMonitor(table, region, probeId, id)
    if (entry?.spec) upserts.push({ ...buildAssignment(entry, why, states), ...toPictured(differences.get(id)) })
    else if (!isSnapshot) removals.push(id)
  }
  return { isSnapshot, isLast, revision, epoch, upserts, removals }
}

const toPictured = (counting: CountingDifference | undefined) => ({
  screenshotDifference: counting?.difference,
  screenshotValidUntilMs: counting?.validUntilMs,
})

/** `states` null: they could not be read. Then only a changed monitor is checked immediately. */
function buildAssignment(entry: IndexedMonitor, why: ChangeReason, states: StoredStates | null): Assignment {
  const stored = states?.get(entry.id)
  return {
    monitorId: entry.id,
    configVersion: entry.configVersion,
    intervalS: entry.intervalS,
    retryCount: entry.retryCount,
    regionState: toRegionState(stored?.regionState ?? null),
    spec: entry.spec ?? undefined,
    tenant: entry.tenant,
    checkAtOnce: why === 'changed' || (states !== null && stored === undefined),
  }
}

/** Returns a sentence about a problem of a probe's first message, or null. */
export function findHelloProblem(hello: Hello): string | null {
  if (!isLine(hello.name) || hello.name === '') return 'name must be one line of 1 to 100 characters'
  if (!isLine(hello.instanceId) || hello.instanceId === '') return 'instance_id must be one line of 1 to 100 characters'
  if (!isLine(hello.version)) return 'version must be one line of at most 100 characters'
  if (hello.capabilities.length > 50 || !hello.capabilities.every(isLine))
    return 'capabilities must be at most 50 lines of at most 100 characters'
  return null
}

const isLine = (text: string) => text.length <= 100 && !hasControlCharacter(text)

/** Returns the fields of a heartbeat that `probes.health` stores. Null: an older probe does not report it. `offlineMs`: how long the connectivity test has failed. */
export function toStoredHealth(heartbeat: Heartbeat, offlineMs: number) {
  return {
    running: heartbeat.running,
    waiting: heartbeat.waiting,
    limit: heartbeat.runningLimit ?? null,
    start_delay_ms: heartbeat.startDelayMs ?? null,
    spool_results: heartbeat.spoolResults ?? null,
    spool_bytes: heartbeat.spoolBytes,
    loop_lag_ms: heartbeat.loopLagMs,
    clock_offset_ms: heartbeat.clockOffsetMs ?? null,
    connectivity_ok: heartbeat.connectivityOk,
    dropped_results: heartbeat.droppedResults,
    nats_away_ms: heartbeat.natsAwayMs ?? null,
    offline_ms: offlineMs,
  }
}

export type StoredProbeHealth = ReturnType<typeof toStoredHealth>

/** Parses a hint for an immediate check from NATS. Null when it is invalid. */
export function parseRunHint(data: unknown): RunHint | null {
  const hint = data as Partial<RunHint> | null
  const isHint =
    typeof hint?.runId === 'string' &&
    typeof hint.monitorId === 'string' &&
    Number.isInteger(hint.trigger) &&
    Number.isInteger(hint.scheduledAtMs)
  return isHint ? (hint as RunHint) : null
}

/** Parses region states from NATS. Invalid ones are left out. */
export function parseStateHint(data: unknown): { monitorId: string; state: RegionState }[] {
  const states = (data as { states?: unknown } | null)?.states
  if (!Array.isArray(states)) return []
  return states.filter(item => typeof item?.monitorId === 'string' && RegionState[item.state] !== undefined)
}

/** Parses an order for a screenshot from NATS. Null when it is invalid. */
export function parseScreenshotOrder(data: Uint8Array): ScreenshotOrder | null {
  try {
    return ScreenshotOrder.decode(data)
  } catch {
    return null
  }
}
