import type { Assignment, Assignments, MonitorRegionState, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import type { Result, Trigger } from '../../shared/checks/result.ts'
import type { Slots } from '../../shared/checks/slots.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import type { TenantQueueItem } from './fair-queue.ts'
import { type KnownRegionState, resolveStartState } from './rechecks/region-state.ts'
import { createResponseTimes, type ResponseTimes } from './rechecks/silence-limit.ts'
import { computeSlots } from './slots.ts'

/** One check of a chain. `result`: null while it is under way. Times by the monotonic clock, in ms. */
export type Attempt = { startedMs: number; endedMs: number; result: Result | null; cancellation: Cancellation }

/** A slot, or a check asked for, and its re-checks. One at a time a monitor (decisions 4.2). */
export type RecheckChain = {
  scheduledAtMs: number
  trigger: Trigger
  /** answered with the first attempt; empty: nobody waits */
  runId: string
  /** the region's when the chain began */
  state: RegionState
  attempts: Attempt[]
  /** so many attempts, counted from the first, were published */
  settled: number
  /** the result published last */
  last: Result | null
  /** the control plane was sent that the first attempt is silent */
  isReported: boolean
  /** no attempt under way can change the region any more */
  isDecided: boolean
  isOver: boolean
}

/** A monitor that this probe checks, in one version of its configuration. */
export type AssignedMonitor = TenantQueueItem & {
  assignment: Assignment
  slots: Slots
  /** what the control plane said last */
  state: RegionState
  concluded: KnownRegionState['concluded']
  chain: RecheckChain | null
  responseTimes: ResponseTimes
  lastScheduledMs: number
  /** the scheduled time of the last attempt beside a chain; 0: none yet */
  lastOutOfBandMs: number
  /** when its page was last to be compared, by the monotonic clock; null: not yet */
  comparedMs: number | null
  /** removed, or replaced by a newer version: what runs may end, nothing more starts */
  isRetired: boolean
}

/** What the owner of the table has to do about a change. */
export type AssignedMonitorsChange = {
  added: AssignedMonitor[]
  retired: AssignedMonitor[]
  toCheckNow: AssignedMonitor[]
}

export type AssignedMonitors = {
  apply: (message: Assignments) => AssignedMonitorsChange
  setStates: (states: readonly MonitorRegionState[]) => void
  /** A result of this monitor did not count: its state is what the control plane said last. */
  discardConclusion: (monitorId: string) => void
  /** The same for all monitors. */
  discardAllConclusions: () => void
  setDifference: (monitorId: string, difference: number | undefined) => void
  get: (monitorId: string) => AssignedMonitor | undefined
  all: () => Iterable<AssignedMonitor>
  size: () => number
  /** what the probe has, for the first message of the next connection; 0: nothing */
  revision: () => number
  /** the live set's epoch that goes with it; undefined: nothing */
  epoch: () => number | undefined
  /** the live set changed, and what it moved has been applied */
  setEpoch: (epoch: number) => void
  /** A new connection: chunks of a snapshot that was broken off count for nothing. */
  restartSnapshot: () => void
}

/** The assignments of this probe, kept over reconnects. They change by snapshots in chunks and by deltas (fleet.proto). */
export function createAssignedMonitors(region: string): AssignedMonitors {
  const watches = new Map<string, AssignedMonitor>()
  let named = new Set<string>()
  let revision = 0
  let epoch: number | undefined

  function upsert(assignment: Assignment, isSnapshot: boolean, change: AssignedMonitorsChange): void {
    const known = watches.get(assignment.monitorId)
    if (known && known.assignment.configVersion === assignment.configVersion) {
      known.assignment = assignment
      setState(known, assignment.regionState)
      if (assignment.checkAtOnce && !isSnapshot) change.toCheckNow.push(known)
      return
    }
    if (known) retire(known, change)
    const watch = createAssignedMonitor(assignment, region)
    watches.set(assignment.monitorId, watch)
    change.added.push(watch)
  }

  function retire(watch: AssignedMonitor, change: AssignedMonitorsChange): void {
    watch.isRetired = true
    watches.delete(watch.assignment.monitorId)
    change.retired.push(watch)
  }

  return {
    apply(message) {
      const change: AssignedMonitorsChange = { added: [], retired: [], toCheckNow: [] }
      for (const assignment of message.upserts) {
        upsert(assignment, message.isSnapshot, change)
        if (message.isSnapshot) named.add(assignment.monitorId)
      }
      for (const monitorId of message.removals) {
        const watch = watches.get(monitorId)
        if (watch) retire(watch, change)
      }
      if (message.isSnapshot && message.isLast) {
        for (const watch of watches.values()) if (!named.has(watch.assignment.monitorId)) retire(watch, change)
        named = new Set()
      }
      if (!message.isSnapshot || message.isLast) {
        revision = message.revision
        epoch = message.epoch
      }
      return change
    },
    setStates(states) {
      for (const { monitorId, state } of states) {
        const watch = watches.get(monitorId)
        if (watch) setState(watch, state)
      }
    },
    discardConclusion(monitorId) {
      const watch = watches.get(monitorId)
      if (watch) watch.concluded = null
    },
    discardAllConclusions() {
      for (const watch of watches.values()) watch.concluded = null
    },
    setDifference(monitorId, difference) {
      const watch = watches.get(monitorId)
      if (watch) watch.assignment.screenshotDifference = difference
    },
    get: monitorId => watches.get(monitorId),
    all: () => watches.values(),
    size: () => watches.size,
    revision: () => revision,
    epoch: () => epoch,
    setEpoch(newEpoch) {
      epoch = newEpoch
    },
    restartSnapshot() {
      named = new Set()
    },
  }
}

function setState(watch: AssignedMonitor, state: RegionState): void {
  watch.state = state
  watch.concluded = null
}

/** The chain that a watch begins now, by the monotonic clock. */
export function createRecheckChain(
  watch: AssignedMonitor,
  nowMs: number,
  scheduledAtMs: number,
  trigger: Trigger,
  runId: string,
): RecheckChain {
  const fresh = { attempts: [], settled: 0, last: null, isReported: false, isDecided: false, isOver: false }
  return { scheduledAtMs, trigger, runId, state: resolveStartState(watch, nowMs), ...fresh }
}

function createAssignedMonitor(assignment: Assignment, region: string): AssignedMonitor {
  return {
    assignment,
    tenant: assignment.tenant,
    slots: computeSlots(assignment.monitorId, region, assignment.intervalS),
    state: assignment.regionState,
    concluded: null,
    chain: null,
    responseTimes: createResponseTimes(),
    lastScheduledMs: 0,
    lastOutOfBandMs: 0,
    comparedMs: null,
    isRetired: false,
    dueMs: 0,
    heapIndex: -1,
  }
}
