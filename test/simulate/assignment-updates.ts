import {
  type AssignmentTable,
  applyLiveSet,
  applyMonitor,
  getRegionPlan,
} from '../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import type { IndexedMonitor } from '../../control-plane/monitoring/fleet/assignments/monitor-index.ts'
import { queueChanges } from '../../control-plane/monitoring/fleet/context.ts'
import { isDatabaseBehind, type KnownLiveSet } from '../../control-plane/monitoring/fleet/live-sets/epochs.ts'
import { computeLiveSet, isSameSet } from '../../control-plane/monitoring/fleet/live-sets/live-set.ts'
import type { ProbeSession } from '../../control-plane/monitoring/fleet/sessions/session.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import type { Database, MonitorRow } from './database.ts'
import { buildCheckSpec } from './installation.ts'

type Parts = {
  assignments: AssignmentTable
  sessions: Map<string, ProbeSession>
  database: Database
  flush: (session: ProbeSession) => void
  /** called when something has changed: rounds are made again */
  wake: () => void
}

/** Keeps the assignments of a fleet process up to date, like `monitor-index-actions`, `epoch-actions` and `live-sets/actions`. */
type AssignmentUpdates = {
  catchUp: () => void
  readEpochs: () => void
  /** Call it when a probe has work of this epoch. If the database has an older one, the region gets a higher epoch. */
  renew: (known: KnownLiveSet) => void
  updateLiveSets: (regions: readonly string[], canEvict: boolean) => void
}

export function createAssignmentUpdates({ assignments, sessions, database, flush, wake }: Parts): AssignmentUpdates {
  let timeline = 0

  function catchUp(): void {
    if (timeline !== database.timeline()) {
      const isFirst = timeline === 0
      timeline = database.timeline()
      if (!isFirst) reloadAll()
    }
    for (const row of database.changedSince(assignments.monitors.revision)) {
      for (const session of queueChanges(sessions, applyMonitor(assignments, toIndexedMonitor(row)))) flush(session)
    }
  }

  /** After a restore of the database: reads all monitors again, and gives each region a new epoch. */
  function reloadAll(): void {
    Object.assign(assignments.monitors, { revision: 0, log: [], deleted: [] })
    for (const set of knownSets()) if (set.epoch > 0) renew({ ...set, epoch: set.epoch + 1, probeIds: null })
    wake()
  }

  const knownSets = (): KnownLiveSet[] =>
    [...assignments.plans].map(([region, { epoch, probes }]) => ({
      region,
      epoch,
      probeIds: probes.map(({ id }) => id),
    }))

  function readEpochs(): void {
    applyNewerEpochs()
    const rows = new Map(database.epochs().map(row => [row.region, row]))
    for (const set of knownSets()) if (isDatabaseBehind(rows.get(set.region), set)) renew(set)
  }

  function applyNewerEpochs(): void {
    for (const row of database.epochs()) {
      if (row.epoch <= getRegionPlan(assignments, row.region).epoch) continue
      wake()
      for (const changes of applyLiveSet(assignments, row)) queueChanges(sessions, changes)
      for (const session of sessions.values()) if (session.region === row.region) flush(session)
    }
  }

  function renew(known: KnownLiveSet): void {
    const stored = database.epochs().find(({ region }) => region === known.region)
    if (isDatabaseBehind(stored, known)) database.saveEpoch(known.region, database.liveSet(known.region), known.epoch)
    applyNewerEpochs()
  }

  return {
    catchUp,
    readEpochs,
    renew,
    updateLiveSets(regions, canEvict) {
      for (const region of regions) {
        const current = database.liveSet(region)
        const next = computeLiveSet(current, database.probesSeen(region), FLEET_TIMING, canEvict)
        if (!isSameSet([...current].sort(), next))
          database.saveEpoch(region, next, getRegionPlan(assignments, region).epoch)
      }
    },
  }
}

function toIndexedMonitor(row: MonitorRow): IndexedMonitor {
  const { id, revision, configVersion, settings } = row
  const { intervalS, retryCount, regions, witness } = settings
  const base = { id, revision, configVersion, tenant: row.index % 8, sizeBytes: 200 }
  if (row.isPaused) return { ...base, intervalS: 0, retryCount: 0, regions: [], spec: null }
  return {
    ...base,
    intervalS,
    retryCount,
    regions,
    spec: buildCheckSpec(row, settings),
    ...(witness && { witness: 'whole' }),
  }
}
