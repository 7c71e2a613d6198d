import {
  type AssignmentTable,
  createAssignmentTable,
  getRegionPlan,
} from '../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import { isPlanned } from '../../control-plane/monitoring/fleet/assignments/region-plan.ts'
import { isPlausibleEpoch } from '../../control-plane/monitoring/fleet/live-sets/epochs.ts'
import {
  createRegionAbsenceState,
  detectAbsentRegions,
  findUnrecorded,
} from '../../control-plane/monitoring/fleet/live-sets/region-absence.ts'
import { expireRuns, type InFlightRuns } from '../../control-plane/monitoring/fleet/on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../../control-plane/monitoring/fleet/sessions/session.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import type { ProbeMessage, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import { createAssignmentUpdates } from './assignment-updates.ts'
import { CAPABILITIES, type Database } from './database.ts'
import { type ConnectingProbe, openSession, sendPending } from './fleet-session.ts'
import { forwardHints, type Hints, handleProbeMessage } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import type { Host } from './time.ts'
import type { Topic } from './topic.ts'

/** The state of the probe that a heartbeat reports, and how long the heartbeat takes to arrive. */
type HeartbeatReport = { latencyMs: number; natsAwayMs: number; isOnline: boolean }

/** A connection to the fleet, from the probe's side. */
export type ProbeConnection = {
  send: (body: NonNullable<ProbeMessage['body']>) => void
  /** Returns JetStream's time as this process knows it; null: the connection is closed. */
  sendHeartbeat: (heartbeat: HeartbeatReport) => number | null
  isOpen: () => boolean
  close: () => void
  /** The probe's process has exited, and its host resets the connection. */
  abort: () => void
}

export type FleetProcess = {
  connect: (caller: ConnectingProbe) => ProbeConnection
  /** Ends the process and its sessions. */
  stop: () => void
}

/** The context of one process of the role `fleet`. */
export type FleetProcessContext = {
  assignments: AssignmentTable
  sessions: Map<string, ProbeSession>
  host: Host
  stream: JetStream
  hints: Hints
  /** checks by which probes confirm failures of other regions */
  runs: InFlightRuns
  flush: (session: ProbeSession) => void
}

type Parts = {
  name: string
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  /** published when something has changed at one of the processes: all of them make rounds for some time */
  alarm: Topic<void>
}

const { deadAfterMs, heartbeatIntervalMs, roundIntervalMs: roundMs } = FLEET_TIMING
const FOLLOW_EVERY_MS = 2_000
const NOTIFIED_AFTER_MS = 5
/** After this silence of a probe, its region is checked for live probes. */
const SILENT_MS = 5_000
/** How long rounds are made after a change: until a reconnected probe is steady. Later rounds would find no change. */
const ACTIVE_MS = 90_000

/** One process of the role `fleet`. It models `worker.ts` and `sessions/grpc.ts`; assignments and their rules are production code. */
export function startFleetProcess({ name, host, database, stream, hints, alarm }: Parts): FleetProcess {
  const { machine } = host
  const assignments = createAssignmentTable()
  const sessions = new Map<string, ProbeSession>()
  const ended: string[] = []
  const wake = () => alarm.publish()
  const flush = (session: ProbeSession) => sendPending(assignments, database, session)
  const runs: InFlightRuns = new Map()
  const context: FleetProcessContext = { assignments, sessions, host, stream, hints, runs, flush }
  const { catchUp, readEpochs, renew, updateLiveSets } = createAssignmentUpdates({
    assignments,
    sessions,
    database,
    flush,
    wake,
  })
  let connections = 0
  let activeUntilMs = machine.monotonicMs() + ACTIVE_MS
  let regularSinceMs = machine.monotonicMs()
  let recordedMs = machine.monotonicMs()
  const absences = createRegionAbsenceState()

  /** Starts rounds again. The activity of the quiet time is recorded first, before another process reads it. */
  function becomeActive(): void {
    const now = machine.monotonicMs()
    const wasQuiet = now > activeUntilMs
    activeUntilMs = now + ACTIVE_MS
    if (!wasQuiet) return
    recordedMs = now
    if (!database.isUnavailable()) for (const session of [...sessions.values()]) recordSeen(session, now)
  }

  /** Work that fails while the database is unavailable is repeated in the next round. */
  function tryNow(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!database.isUnavailable()) throw error
      wake()
    }
  }

  function round(): void {
    const now = machine.monotonicMs()
    for (const session of [...sessions.values()]) {
      if (now - session.lastMessageMs > deadAfterMs) session.close('silent')
      else if (now - session.lastMessageMs > SILENT_MS) wake()
    }
    expireRuns(runs, now)
    if (now > activeUntilMs) return
    tryNow(() => {
      for (const session of sessions.values()) recordSeen(session, now)
      database.markDisconnected(ended.splice(0))
      if (now - recordedMs > deadAfterMs / 2) regularSinceMs = now
      recordedMs = now
      recordAbsences(now)
      updateLiveSets(database.regions(), now - regularSinceMs > deadAfterMs)
      readEpochs()
    })
  }

  /** Like `createRegionAbsenceRecorder`. */
  function recordAbsences(now: number): void {
    const liveSets = database.epochs()
    const regions = liveSets.map(({ region }) => region)
    const presence = detectAbsentRegions(absences, regions, regions.flatMap(database.probesSeen), FLEET_TIMING, now)
    database.recordAbsences(findUnrecorded(presence, liveSets))
  }

  function recordSeen(session: ProbeSession, now: number): void {
    if (session.lastMessageMs <= session.recordedMs || now - session.recordedMs < heartbeatIntervalMs) return
    const silentMs = Math.max(0, now - session.lastMessageMs)
    if (database.recordSeen(session.probeId, session.connectedTo, silentMs, session.health)) session.recordedMs = now
    else session.close('superseded')
  }

  /** Like `welcomeProbe`: records the connection, updates the live set, then opens the session. */
  function admit(caller: ConnectingProbe): ProbeSession | null {
    const { probeId, region, hello } = caller
    if (!host.isRunning() || database.isUnavailable()) return null
    const connectedTo = `${name} ${++connections}`
    database.connectProbe(probeId, region, connectedTo)
    wake()
    if (!isPlanned(getRegionPlan(assignments, region), { id: probeId, capabilities: CAPABILITIES })) {
      updateLiveSets([region], false)
      readEpochs()
    }
    const lastEpoch = hello.lastEpoch ?? 0
    if (lastEpoch > getRegionPlan(assignments, region).epoch && isPlausibleEpoch(lastEpoch, stream.nowMs())) {
      readEpochs()
      if (lastEpoch > getRegionPlan(assignments, region).epoch) renew({ region, epoch: lastEpoch, probeIds: null })
    }
    sessions.get(probeId)?.close('replaced')
    const session = openSession(assignments, caller, connectedTo, machine.monotonicMs(), () => {
      if (sessions.get(probeId) === session) sessions.delete(probeId)
      ended.push(connectedTo)
      wake()
    })
    sessions.set(probeId, session)
    return session
  }

  function receive(session: ProbeSession, body: NonNullable<ProbeMessage['body']>): void {
    session.lastMessageMs = machine.monotonicMs()
    if (body.$case === 'draining') {
      tryNow(() => database.markDraining(session.probeId, session.connectedTo))
      wake()
    } else handleProbeMessage(context, session, body)
  }

  function beat(session: ProbeSession, { latencyMs, natsAwayMs, isOnline }: HeartbeatReport): number {
    session.lastMessageMs = machine.monotonicMs() + latencyMs
    const isHealthy = natsAwayMs === 0 && isOnline
    if (!isHealthy || session.health) {
      wake()
      session.offlineSinceMs = isOnline ? null : (session.offlineSinceMs ?? session.lastMessageMs)
      const offlineMs = session.lastMessageMs - (session.offlineSinceMs ?? session.lastMessageMs)
      session.health = { nats_away_ms: natsAwayMs, offline_ms: offlineMs } as ProbeSession['health']
    }
    return hints.logNowMs()
  }

  alarm.subscribe(() => {
    if (host.isRunning()) becomeActive()
    return host.isAlive()
  })
  catchUp()
  readEpochs()
  machine.every(roundMs, round)
  machine.every(FOLLOW_EVERY_MS, () => {
    if (machine.monotonicMs() > activeUntilMs) return
    tryNow(() => {
      catchUp()
      readEpochs()
    })
  })
  const onNotice = (work: () => void) => () => {
    if (!host.isAlive()) return false
    wake()
    machine.after(NOTIFIED_AFTER_MS, () => tryNow(work))
    return true
  }
  database.onMonitors(onNotice(catchUp))
  database.onEpochs(onNotice(readEpochs))
  forwardHints(context)

  return {
    stop() {
      for (const session of [...sessions.values()]) session.close('stopping')
      if (!database.isUnavailable()) database.markDisconnected(ended.splice(0))
      host.end()
    },
    connect(caller) {
      const { probeId, region, latencyMs, isReached, deliver, onEnd, onWelcome } = caller
      let session: ProbeSession | null = null
      machine.after(latencyMs, () => {
        if (!isReached()) return
        session = admit(caller)
        if (!session) return deliver(latencyMs, onEnd)
        const { epoch } = getRegionPlan(assignments, region)
        const access = { natsUrl: '', natsCredentials: '' }
        const welcome: Welcome = { probeId, region, ...access, heartbeatIntervalMs, deadAfterMs, epoch }
        deliver(latencyMs, () => onWelcome(welcome))
        flush(session)
      })
      const isUp = () => host.isRunning() && session?.isOpen === true
      return {
        isOpen: isUp,
        sendHeartbeat: heartbeat => (isUp() ? beat(session!, heartbeat) : null),
        send: body => {
          if (isUp()) receive(session!, body)
        },
        close: () => session?.close('gone'),
        abort: () => session?.close('gone'),
      }
    },
  }
}
