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
  markRecorded,
  shouldRecord,
} from '../../control-plane/monitoring/fleet/live-sets/region-absence.ts'
import { expireRuns, type InFlightRuns } from '../../control-plane/monitoring/fleet/on-demand/in-flight-runs.ts'
import type { ProbeSession } from '../../control-plane/monitoring/fleet/sessions/session.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import type { ProbeMessage, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import { CAPABILITIES, type Database } from './database.ts'
import { keepBook } from './fleet-book.ts'
import { type Caller, openLink, sendOwed } from './fleet-link.ts'
import { type Hints, hearHints, hearProbe } from './hints.ts'
import type { JetStream } from './jetstream.ts'
import type { Host } from './time.ts'
import type { Topic } from './topic.ts'

/** What a heartbeat says of the probe, and how long it is on its way. */
export type Beat = { latencyMs: number; natsAwayMs: number; isOnline: boolean }

/** A connection of a probe, as the probe has it. */
export type Session = {
  hear: (body: NonNullable<ProbeMessage['body']>) => void
  /** A heartbeat; answers JetStream's time as this process knows it; null: it does not. */
  beat: (heartbeat: Beat) => number | null
  isOpen: () => boolean
  close: () => void
  /** The probe's process has ended, and its host says so. */
  breakOff: () => void
}

export type FleetProcess = {
  connect: (caller: Caller) => Session
  /** Ends with its sessions. */
  stop: () => void
}

/** What the parts of one process of the role `fleet` share. */
export type FleetDesk = {
  assignments: AssignmentTable
  sessions: Map<string, ProbeSession>
  host: Host
  stream: JetStream
  hints: Hints
  /** checks by probes that have to confirm failures of other regions */
  runs: InFlightRuns
  pump: (link: ProbeSession) => void
}

type Parts = {
  name: string
  host: Host
  database: Database
  stream: JetStream
  hints: Hints
  /** something has changed at one of the processes: all make rounds for a while */
  alarm: Topic<void>
}

const { deadAfterMs, heartbeatIntervalMs, roundIntervalMs: roundMs } = FLEET_TIMING
const FOLLOW_EVERY_MS = 2_000
const NOTIFIED_AFTER_MS = 5
/** From then on, regions are checked for whether they still have a probe. */
const SILENT_MS = 5_000
/** After a change rounds are made for so long: until a probe that came back is steady. Between changes they find nothing. */
const RESTLESS_MS = 90_000

/** One process of the role `fleet`, with what `worker.ts` and `grpc.ts` of the room do; the assignments and its rules are the real ones. */
export function startFleetProcess({ name, host, database, stream, hints, alarm }: Parts): FleetProcess {
  const { machine } = host
  const assignments = createAssignmentTable()
  const sessions = new Map<string, ProbeSession>()
  const ended: string[] = []
  const wake = () => alarm.publish()
  const pump = (link: ProbeSession) => sendOwed(assignments, database, link)
  const runs: InFlightRuns = new Map()
  const context: FleetDesk = { assignments, sessions, host, stream, hints, runs, pump }
  const { catchUp, readEpochs, renew, updateLiveSets } = keepBook({ assignments, sessions, database, pump, wake })
  let connections = 0
  let restlessUntilMs = machine.monotonicMs() + RESTLESS_MS
  let soundSinceMs = machine.monotonicMs()
  let recordedMs = machine.monotonicMs()
  const absences = createRegionAbsenceState()

  /** In between everything was written down in time; so it is now, before any process looks. */
  function beRestless(): void {
    const now = machine.monotonicMs()
    const wasQuiet = now > restlessUntilMs
    restlessUntilMs = now + RESTLESS_MS
    if (!wasQuiet) return
    recordedMs = now
    if (!database.isAway()) for (const link of [...sessions.values()]) recordSeen(link, now)
  }

  /** What the database refuses comes again with the next round. */
  function trying(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (!database.isAway()) throw error
      wake()
    }
  }

  function round(): void {
    const now = machine.monotonicMs()
    for (const link of [...sessions.values()]) {
      if (now - link.lastMessageMs > deadAfterMs) link.close('silent')
      else if (now - link.lastMessageMs > SILENT_MS) wake()
    }
    expireRuns(runs, now)
    if (now > restlessUntilMs) return
    trying(() => {
      for (const link of sessions.values()) recordSeen(link, now)
      database.markDisconnected(ended.splice(0))
      if (now - recordedMs > deadAfterMs / 2) soundSinceMs = now
      recordedMs = now
      noteAbsences(now)
      updateLiveSets(database.regions(), now - soundSinceMs > deadAfterMs)
      readEpochs()
    })
  }

  /** As `createNoteAbsences`. */
  function noteAbsences(now: number): void {
    const regions = database.epochs().map(({ region }) => region)
    const looked = detectAbsentRegions(absences, regions, regions.flatMap(database.probesSeen), FLEET_TIMING, now)
    if (!shouldRecord(absences, looked, now)) return
    database.recordAbsences(looked)
    markRecorded(absences, looked, now)
  }

  function recordSeen(link: ProbeSession, now: number): void {
    if (link.lastMessageMs <= link.recordedMs || now - link.recordedMs < heartbeatIntervalMs) return
    const silentMs = Math.max(0, now - link.lastMessageMs)
    if (database.recordSeen(link.probeId, link.connectedTo, silentMs, link.health)) link.recordedMs = now
    else link.close('superseded')
  }

  /** As `welcomeProbe`: the connection is written down, the live set brought up to date, then the link opens. */
  function letIn(caller: Caller): ProbeSession | null {
    const { probeId, region, hello } = caller
    if (!host.isRunning() || database.isAway()) return null
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
    const link = openLink(assignments, caller, connectedTo, machine.monotonicMs(), () => {
      if (sessions.get(probeId) === link) sessions.delete(probeId)
      ended.push(connectedTo)
      wake()
    })
    sessions.set(probeId, link)
    return link
  }

  function hear(link: ProbeSession, body: NonNullable<ProbeMessage['body']>): void {
    link.lastMessageMs = machine.monotonicMs()
    if (body.$case === 'draining') {
      trying(() => database.markDraining(link.probeId, link.connectedTo))
      wake()
    } else hearProbe(context, link, body)
  }

  function beat(link: ProbeSession, { latencyMs, natsAwayMs, isOnline }: Beat): number {
    link.lastMessageMs = machine.monotonicMs() + latencyMs
    const isWell = natsAwayMs === 0 && isOnline
    if (!isWell || link.health) {
      wake()
      link.offlineSinceMs = isOnline ? null : (link.offlineSinceMs ?? link.lastMessageMs)
      const offlineMs = link.lastMessageMs - (link.offlineSinceMs ?? link.lastMessageMs)
      link.health = { nats_away_ms: natsAwayMs, offline_ms: offlineMs } as ProbeSession['health']
    }
    return hints.logNowMs()
  }

  alarm.subscribe(() => {
    if (host.isRunning()) beRestless()
    return host.isAlive()
  })
  catchUp()
  readEpochs()
  machine.every(roundMs, round)
  machine.every(FOLLOW_EVERY_MS, () => {
    if (machine.monotonicMs() > restlessUntilMs) return
    trying(() => {
      catchUp()
      readEpochs()
    })
  })
  const onNotice = (work: () => void) => () => {
    if (!host.isAlive()) return false
    wake()
    machine.after(NOTIFIED_AFTER_MS, () => trying(work))
    return true
  }
  database.onMonitors(onNotice(catchUp))
  database.onEpochs(onNotice(readEpochs))
  hearHints(context)

  return {
    stop() {
      for (const link of [...sessions.values()]) link.close('stopping')
      if (!database.isAway()) database.markDisconnected(ended.splice(0))
      host.end()
    },
    connect(caller) {
      const { probeId, region, latencyMs, isReached, deliver, onEnd, onWelcome } = caller
      let link: ProbeSession | null = null
      machine.after(latencyMs, () => {
        if (!isReached()) return
        link = letIn(caller)
        if (!link) return deliver(latencyMs, onEnd)
        const { epoch } = getRegionPlan(assignments, region)
        const access = { natsUrl: '', natsCredentials: '' }
        const welcome: Welcome = { probeId, region, ...access, heartbeatIntervalMs, deadAfterMs, epoch }
        deliver(latencyMs, () => onWelcome(welcome))
        pump(link)
      })
      const isUp = () => host.isRunning() && link?.isOpen === true
      return {
        isOpen: isUp,
        beat: heartbeat => (isUp() ? beat(link!, heartbeat) : null),
        hear: body => {
          if (isUp()) hear(link!, body)
        },
        close: () => link?.close('gone'),
        breakOff: () => link?.close('gone'),
      }
    },
  }
}
