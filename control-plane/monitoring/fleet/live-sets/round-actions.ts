import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { countByRegion, getRegionPlan, type RegionEpoch } from '../assignments/assignment-table.ts'
import { getOwnedMonitors } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import { expireRuns } from '../on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../sessions/session.ts'
import { type FleetStateListener, updateLiveSets } from './actions.ts'
import { createClockStepDetector } from './clock-step.ts'
import { moveTimesToNow } from './clock-step-store.ts'
import { applyEpochs, loadEpochs } from './epoch-actions.ts'
import { createRegionAbsenceRecorder, type RegionAbsenceRecorder } from './region-absence-actions.ts'
import { type FleetState, markDisconnected, markDraining, recordActivity, recordRegionCounts } from './store.ts'

/** Adds the new probes of a region that can start immediately to its live set. */
export async function admitProbes(context: FleetContext, region: string): Promise<void> {
  await updateLiveSets(context.db, context.timing, {
    region,
    canEvict: () => false,
    knownEpoch: createEpochLookup(context),
  })
  await loadEpochs(context, region)
}

const createEpochLookup = (context: FleetContext) => (region: string) =>
  getRegionPlan(context.assignments, region).epoch

/** Builds a round: it closes silent sessions, records the activity of probes, and evicts and adds live probes. */
export function createRound(context: FleetContext, takeWake: () => boolean): () => Promise<void> {
  const { timing } = context
  // since when all activity was recorded in time, by the clock that measures silence; only after that an old `last_seen_at` means a silent probe (live-set.ts)
  let recordsCompleteSinceMs = monotonicMs()
  let recordedMs = monotonicMs()
  const wasSet = createClockStepDetector()
  const unassigned = new Map<string, number>()
  const recordAbsences = createRegionAbsenceRecorder(context)
  // in every second round, and in each requested one; `admit` adds a new probe without waiting for a round
  let isUpdateDue = true
  const counts = createCountRecorder(context)
  return async () => {
    const startedMs = monotonicMs()
    const isUpdate = takeWake() || isUpdateDue
    // again in the next round, unless this one succeeds
    isUpdateDue = true
    for (const session of [...context.sessions.values()]) {
      if (startedMs - session.lastMessageMs > timing.deadAfterMs) session.close('silent')
    }
    await recordSessions(context, startedMs)
    for (const session of context.sessions.values()) {
      if (session.isDrainUnrecorded) await recordDraining(context.db, session)
    }
    await counts()
    if (monotonicMs() - recordedMs > timing.deadAfterMs / 2) recordsCompleteSinceMs = monotonicMs()
    recordedMs = monotonicMs()
    if (isUpdate) {
      const askedMs = recordedMs
      const canEvict = ({ nowMs }: FleetState) => {
        const answeredMs = monotonicMs()
        if (wasSet({ clockMs: nowMs, askedMs, answeredMs })) recordsCompleteSinceMs = answeredMs
        return askedMs - recordsCompleteSinceMs > timing.deadAfterMs
      }
      await refreshLiveSets(context, canEvict, recordAbsences)
      isUpdateDue = false
    }
    expireRuns(context.runs, monotonicMs())
    reportUnassigned(context, unassigned)
  }
}

async function refreshLiveSets(
  context: FleetContext,
  canEvict: (state: FleetState) => boolean,
  recordAbsences: RegionAbsenceRecorder,
): Promise<void> {
  let read: readonly RegionEpoch[] = []
  const onRead: FleetStateListener = async ({ epochs, states, history, revoked, areTimesAhead }) => {
    read = epochs
    context.followHistory(history)
    context.followRevoked(revoked)
    await recordAbsences(epochs, states)
    if (!areTimesAhead) return
    const probes = await moveTimesToNow(context.db)
    context.log.warn({ probes }, "PostgreSQL's clock was set back; the silence of probes counts from now")
  }
  const changed = await updateLiveSets(context.db, context.timing, {
    canEvict,
    knownEpoch: createEpochLookup(context),
    onRead,
  })
  if (changed.length === 0) return applyEpochs(context, read)
  context.log.info({ regions: changed }, 'live sets changed')
  await loadEpochs(context)
}

/** Unchanged counts are written again after this time, because another process or a restore may have changed the rows. */
const RECORD_COUNTS_INTERVAL_MS = 10_000

function createCountRecorder({ db, assignments: table }: FleetContext): () => Promise<void> {
  let recorded = ''
  let atMs = Number.NEGATIVE_INFINITY
  return async () => {
    const counts = countByRegion(table)
    const text = JSON.stringify(counts)
    if (text === recorded && monotonicMs() - atMs < RECORD_COUNTS_INTERVAL_MS) return
    await recordRegionCounts(db, counts)
    recorded = text
    atMs = monotonicMs()
  }
}

/** Logs once that no live probe of a region can check some of its monitors, and again when their number grows. */
function reportUnassigned({ assignments: table, log }: FleetContext, reported: Map<string, number>): void {
  for (const [region, { probes, unassigned }] of table.plans) {
    const monitors = probes.length > 0 ? unassigned.size : 0
    if (monitors > (reported.get(region) ?? 0)) {
      log.warn({ region, monitors }, 'no live probe of the region can check these monitors; upgrade its probes')
    }
    reported.set(region, monitors)
  }
}

/** Records that the probe of a session is stopping. When this fails, the next round does it. */
export async function recordDraining(db: Db, session: ProbeSession): Promise<void> {
  await markDraining(db, session.probeId, session.connectedTo)
  session.isDrainUnrecorded = false
}

async function recordSessions(context: FleetContext, atMs: number): Promise<void> {
  const due = [...context.sessions.values()].filter(
    session =>
      session.lastMessageMs > session.recordedMs && atMs - session.recordedMs >= context.timing.heartbeatIntervalMs,
  )
  if (due.length > 0) {
    const lost = await recordActivity(
      context.db,
      due.map(session => toProbeActivity(context, session, atMs)),
    )
    for (const session of due) {
      const reason = lost.get(session.probeId)
      if (reason) session.close(reason)
      else session.recordedMs = atMs
    }
  }
  const ended = [...context.endedConnections]
  if (ended.length === 0) return
  await markDisconnected(context.db, ended)
  context.endedConnections.splice(0, ended.length)
}

function toProbeActivity({ assignments: table }: FleetContext, session: ProbeSession, atMs: number) {
  const assignments = getOwnedMonitors(getRegionPlan(table, session.region), session.probeId).size
  return {
    id: session.probeId,
    connectedTo: session.connectedTo,
    silentMs: Math.max(0, atMs - session.lastMessageMs),
    health: session.health && { ...session.health, assignments },
  }
}
