import type { LiveProbe } from '../../control-plane/monitoring/fleet/assignments/region-plan.ts'
import { EPOCH_ORIGIN_S } from '../../control-plane/monitoring/fleet/live-sets/epochs.ts'
import type { ProbeState } from '../../control-plane/monitoring/fleet/live-sets/live-set.ts'
import type { StoredLiveSet } from '../../control-plane/monitoring/fleet/live-sets/store.ts'
import type { ProbeSession } from '../../control-plane/monitoring/fleet/sessions/session.ts'
import type { MonitorState, VerdictStatus } from '../../control-plane/verdict/core/types.ts'
import type { EpochSpan, RegionLiveSet } from '../../control-plane/verdict/reader/live-sets/live-sets.ts'
import type { RegionEpochRow } from '../../control-plane/verdict/reader/live-sets/live-sets-store.ts'
import { CHECK_TYPES } from '../../shared/checks/check.ts'
import type { AlertRows } from './alerts.ts'
import { listLeftRegions } from './checked-regions.ts'
import { BEGIN_MS, type Settings } from './installation.ts'
import { recordLiveProbes } from './live-probes.ts'
import type { Time } from './time.ts'
import { createTopic } from './topic.ts'

export type MonitorRow = {
  id: string
  index: number
  revision: number
  configVersion: number
  streaksSince: number
  settings: Settings
  /** when it left its former regions, by PostgreSQL's clock */
  leftRegions: Record<string, number>
  isPaused: boolean
  status: VerdictStatus
  state: MonitorState | null
}

type ProbeRow = {
  id: string
  region: string
  createdAtMs: number
  connectedAtMs: number
  lastSeenAtMs: number
  connectedTo: string | null
  isDraining: boolean
  natsAwayMs: number
  offlineMs: number
}

/** `absent…`: when the region had no probe that could publish, by PostgreSQL's clock */
type RegionRow = { epoch: number; probeIds: string[]; absentFromMs: number | null; absentUntilMs: number | null }

/** The rows that a restore resets. */
type Rows = {
  monitors: Map<string, MonitorRow>
  probes: Map<string, ProbeRow>
  epochs: Map<string, RegionRow>
  live: Map<string, Map<string, EpochSpan[]>>
  position: { sequence: number; atMs: number | null; streamCreated: string | null }
  revision: number
  alerts: AlertRows
}

const ABSENCE_KEPT_MS = 4 * 3_600_000

export const CAPABILITIES: string[] = [...CHECK_TYPES]

class DatabaseUnavailable extends Error {}

export type Database = ReturnType<typeof createDatabase>

/**
 * A model of PostgreSQL for fleet and verdict: rows, notifications and a clock that can be set. The methods repeat the SQL
 * statements of both rooms; decisions are made by production code.
 */
export function createDatabase(time: Time) {
  let rows: Rows = {
    monitors: new Map(),
    probes: new Map(),
    epochs: new Map(),
    live: new Map(),
    position: { sequence: 0, atMs: null, streamCreated: null },
    revision: 0,
    alerts: { periods: [], silences: new Map(), sent: [] },
  }
  let isUnavailable = false
  let aheadMs = 0
  let timeline = 1
  let epochsGiven = 0
  const monitorsChanged = createTopic<void>()
  const epochsChanged = createTopic<void>()
  const silencesChanged = createTopic<void>()
  const clockSet = createTopic<void>()
  const nowMs = () => BEGIN_MS + time.nowMs() + aheadMs
  const check = () => {
    if (isUnavailable) throw new DatabaseUnavailable('PostgreSQL is unavailable')
  }

  function putMonitor(row: Omit<MonitorRow, 'revision' | 'leftRegions'>): void {
    check()
    const leftRegions = listLeftRegions(rows.monitors.get(row.id), row.settings.regions, nowMs())
    rows.monitors.set(row.id, { ...row, leftRegions, revision: ++rows.revision })
    monitorsChanged.publish()
  }

  return {
    isUnavailable: () => isUnavailable,
    /** its clock, in ms since 1970 */
    clockMs: nowMs,
    setUnavailable(value: boolean) {
      isUnavailable = value
    },
    setClock(byMs: number) {
      aheadMs += byMs
      clockSet.publish()
    },
    onClock: clockSet.subscribe,
    onSilences: silencesChanged.subscribe,
    wakeReviews: silencesChanged.publish,
    alerts: () => rows.alerts,
    onMonitors: monitorsChanged.subscribe,
    onEpochs: epochsChanged.subscribe,
    /** a copy for a later restore */
    copy: (): Rows => structuredClone(rows),
    /** Resets all rows to the copy. Later commits are lost, as with a standby that lacks them. */
    restore(copy: Rows) {
      rows = structuredClone(copy)
      timeline++
    },
    timeline() {
      check()
      return timeline
    },

    putMonitor,
    monitors() {
      check()
      return rows.monitors
    },
    monitor(id: string) {
      check()
      return rows.monitors.get(id)
    },
    changedSince(revision: number) {
      check()
      if (revision >= rows.revision) return []
      return [...rows.monitors.values()].filter(row => row.revision > revision).sort((a, b) => a.revision - b.revision)
    },
    latestRevision() {
      check()
      return rows.revision
    },
    storeState(id: string, state: MonitorState) {
      rows.monitors.get(id)!.state = state
    },
    storeStatus(id: string, status: VerdictStatus) {
      rows.monitors.get(id)!.status = status
    },
    position() {
      check()
      return rows.position
    },
    storePosition(position: Rows['position']) {
      check()
      rows.position = position
    },

    /** Like `recordConnection`. */
    connectProbe(id: string, region: string, connectedTo: string) {
      check()
      const now = nowMs()
      const known = rows.probes.get(id)
      const createdAtMs = known?.createdAtMs ?? now
      const connected = {
        connectedAtMs: now,
        lastSeenAtMs: now,
        connectedTo,
        isDraining: false,
        natsAwayMs: 0,
        offlineMs: 0,
      }
      rows.probes.set(id, { id, region, createdAtMs, ...connected })
    },
    markDraining(id: string, connectedTo: string) {
      check()
      const row = rows.probes.get(id)
      if (row?.connectedTo === connectedTo) row.isDraining = true
    },
    markDisconnected(connectedTo: readonly string[]) {
      check()
      for (const row of rows.probes.values())
        if (row.connectedTo !== null && connectedTo.includes(row.connectedTo)) row.connectedTo = null
    },
    /** Returns whether the probe is still connected to this process. */
    recordSeen(id: string, connectedTo: string, silentMs: number, health: Partial<ProbeSession['health']>): boolean {
      check()
      const row = rows.probes.get(id)
      if (!row || row.connectedTo !== connectedTo) return false
      row.lastSeenAtMs = Math.max(row.lastSeenAtMs, nowMs() - silentMs)
      row.natsAwayMs = health?.nats_away_ms ?? 0
      row.offlineMs = health?.offline_ms ?? 0
      return true
    },
    probesSeen(region: string): ProbeState[] {
      check()
      const now = nowMs()
      const seen: ProbeState[] = []
      for (const row of rows.probes.values()) {
        if (row.region !== region) continue
        if (row.lastSeenAtMs <= now - 3_600_000 && !rows.epochs.get(region)?.probeIds.includes(row.id)) continue
        seen.push({
          id: row.id,
          region,
          silentMs: now - row.lastSeenAtMs,
          steadyMs: now - row.connectedAtMs,
          isConnected: row.connectedTo !== null,
          isNew: row.connectedAtMs === row.createdAtMs,
          isDraining: row.isDraining,
          isRevoked: false,
          isDrained: false,
          capabilities: CAPABILITIES,
          natsAwayMs: row.natsAwayMs,
          offlineMs: row.offlineMs,
        })
      }
      return seen
    },

    epochsGiven: () => epochsGiven,
    regions: () => [...new Set([...rows.epochs.keys(), ...[...rows.probes.values()].map(({ region }) => region)])],
    liveSet(region: string): string[] {
      check()
      return rows.epochs.get(region)?.probeIds ?? []
    },
    /** Like `saveRegionEpoch`. */
    saveEpoch(region: string, probeIds: string[], above = 0) {
      check()
      epochsGiven++
      const before = rows.epochs.get(region)?.epoch ?? 0
      const byClock = Math.trunc(nowMs() / 1000 - EPOCH_ORIGIN_S)
      const epoch = Math.max(before + 1, above + 1, byClock)
      const { absentFromMs = null, absentUntilMs = null } = rows.epochs.get(region) ?? {}
      rows.epochs.set(region, { epoch, probeIds, absentFromMs, absentUntilMs })
      recordLiveProbes(rows.live, region, epoch, probeIds)
      epochsChanged.publish()
    },
    epochs(): StoredLiveSet[] {
      check()
      return [...rows.epochs].map(([region, { epoch, probeIds, absentFromMs, absentUntilMs }]) => ({
        region,
        epoch,
        isAbsent: absentFromMs !== null && absentUntilMs === null,
        probes: probeIds
          .map((id): LiveProbe => ({ id, capabilities: CAPABILITIES }))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      }))
    },
    /** Like `recordRegionAbsences`. */
    recordAbsences({ absent, present }: { absent: string[]; present: string[] }) {
      check()
      for (const [region, row] of rows.epochs) {
        const isAbsent = row.absentFromMs !== null && row.absentUntilMs === null
        if (absent.includes(region) && !isAbsent) Object.assign(row, { absentFromMs: nowMs(), absentUntilMs: null })
        else if (present.includes(region) && isAbsent) row.absentUntilMs = nowMs()
      }
    },
    /** Like `loadRegionEpochs`. */
    regionsNow(): RegionEpochRow[] {
      check()
      const now = nowMs()
      return [...rows.epochs].map(([region, { epoch, absentFromMs, absentUntilMs }]) => {
        const isRecent = absentUntilMs === null || absentUntilMs > now - ABSENCE_KEPT_MS
        return {
          region,
          epoch,
          absentFrom: absentFromMs === null ? null : String(absentFromMs),
          absentUntil: absentUntilMs === null ? null : String(absentUntilMs),
          absentForMs: absentFromMs !== null && isRecent ? now - absentFromMs : null,
          backForMs: absentUntilMs === null ? null : now - absentUntilMs,
        }
      })
    },
    getLiveSet(region: string): RegionLiveSet {
      check()
      const spans = rows.live.get(region) ?? new Map<string, EpochSpan[]>()
      return { epoch: rows.epochs.get(region)?.epoch ?? 0, spans: structuredClone(spans) }
    },
  }
}
