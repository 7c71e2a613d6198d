import type {
  Assignment,
  Assignments,
  MonitorRegionState,
  RegionState,
  ScreenshotDifference,
} from '../../proto/gen/probe/v1/fleet.ts'
import type { Result, Trigger } from '../../shared/checks/result.ts'
import { computeSlots, type Slots } from '../../shared/checks/slots.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import type { CancelTimer } from '../clock.ts'
import type { TenantQueueItem } from './queue/fair-queue.ts'
import { type KnownRegionState, resolveStartState } from './rechecks/region-state.ts'
import { createResponseTimes, type ResponseTimes } from './rechecks/silence-limit.ts'

/** One attempt of a chain. `result`: null while it is in flight. Times in ms by the monotonic clock. */
export type Attempt = {
  startedMs: number
  endedMs: number
  result: Result | null
  /** a later attempt ended the chain while this one was silent */
  isCancelled: boolean
  cancellation: Cancellation
}

/** A check on demand that waits for its result. `askedMs`: by the monotonic clock. */
export type ChainRequest = {
  runId: string
  trigger: Trigger
  askedMs: number
  /** the number of the first attempt of the chain that starts after the request */
  fromAttempt: number
  /** the newest result of an attempt that started before the request and ended after it */
  earlier: Result | null
  /** stops the timer after which the newest result is the answer */
  cancelTimer: CancelTimer
}

/** A slot, or a check on demand, with its re-checks. A monitor has at most one (docs/design/probes.md#attempts). */
export type RecheckChain = {
  scheduledAtMs: number
  trigger: Trigger
  /** the run id in the result of the first attempt; empty: it was not requested */
  runId: string
  /** the requests to be answered */
  requests: ChainRequest[]
  /** the region's state when the chain began */
  state: RegionState
  attempts: Attempt[]
  /** number of attempts, counted from the first, that are published */
  settled: number
  /** the newest published result */
  last: Result | null
  /** the control plane was notified that the first attempt is silent */
  isReported: boolean
  isOver: boolean
}

/** A monitor that this probe checks, in one version of its configuration. */
export type AssignedMonitor = TenantQueueItem & {
  assignment: Assignment
  slots: Slots
  /** the newest state sent by the control plane */
  state: RegionState
  concluded: KnownRegionState['concluded']
  chain: RecheckChain | null
  /** number of chains in a row that ended with `unknown`; one on demand counts only as the first */
  unknownChains: number
  responseTimes: ResponseTimes
  lastScheduledMs: number
  /** when its page was last queued for comparison, by the monotonic clock; null: never */
  comparedMs: number | null
  /** removed, or replaced by a newer version: running attempts may end, nothing more starts */
  isRetired: boolean
}

/** The changes of a message, to be applied to the queue. */
type AssignedMonitorsChange = {
  added: AssignedMonitor[]
  retired: AssignedMonitor[]
  /** retired, and added in another version: no attempt of them may go on */
  replaced: AssignedMonitor[]
  toCheckNow: AssignedMonitor[]
}

export type AssignedMonitors = {
  apply: (message: Assignments) => AssignedMonitorsChange
  setStates: (states: readonly MonitorRegionState[]) => void
  /** A result of this monitor did not count: its state is the newest one sent by the control plane. */
  discardConclusion: (monitorId: string) => void
  /** The same for all monitors. */
  discardAllConclusions: () => void
  /** A difference of another version of the configuration is ignored: the page is compared after the next check. */
  setDifference: (compared: ScreenshotDifference) => void
  get: (monitorId: string) => AssignedMonitor | undefined
  all: () => Iterable<AssignedMonitor>
  size: () => number
  /** the revision of the assignments, for the first message of the next connection; 0: none */
  revision: () => number
  /** the epoch of the live set that belongs to it; undefined: none */
  epoch: () => number | undefined
  /** the live set changed, and the moved assignments have been applied */
  setEpoch: (epoch: number) => void
  /** A new connection: discards the chunks of an interrupted snapshot. */
  restartSnapshot: () => void
}

/** The assignments of this probe, kept across reconnects. They change by snapshots in chunks and by deltas (fleet.proto). */
export function createAssignedMonitors(region: string): AssignedMonitors {
  const monitors = new Map<string, AssignedMonitor>()
  const leaving = createLeavingMonitors()
  let named = new Set<string>()
  let revision = 0
  let epoch: number | undefined

  function upsert(assignment: Assignment, isSnapshot: boolean, change: AssignedMonitorsChange): void {
    const known = monitors.get(assignment.monitorId)
    if (known && known.assignment.configVersion === assignment.configVersion) {
      known.assignment = assignment
      setState(known, assignment.regionState)
      if (assignment.checkAtOnce && !isSnapshot) change.toCheckNow.push(known)
      return
    }
    if (known) retire(known, change)
    change.replaced.push(...leaving.takeOtherVersion(assignment))
    const monitor = createAssignedMonitor(assignment, region)
    monitors.set(assignment.monitorId, monitor)
    change.added.push(monitor)
  }

  function retire(monitor: AssignedMonitor, change: AssignedMonitorsChange): void {
    monitor.isRetired = true
    monitors.delete(monitor.assignment.monitorId)
    leaving.add(monitor)
    change.retired.push(monitor)
  }

  return {
    apply(message) {
      leaving.prune()
      const change: AssignedMonitorsChange = { added: [], retired: [], replaced: [], toCheckNow: [] }
      for (const assignment of message.upserts) {
        upsert(assignment, message.isSnapshot, change)
        if (message.isSnapshot) named.add(assignment.monitorId)
      }
      for (const monitorId of message.removals) {
        const monitor = monitors.get(monitorId)
        if (monitor) retire(monitor, change)
      }
      if (message.isSnapshot && message.isLast) {
        for (const monitor of monitors.values()) if (!named.has(monitor.assignment.monitorId)) retire(monitor, change)
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
        const monitor = monitors.get(monitorId)
        if (monitor) setState(monitor, state)
      }
    },
    discardConclusion(monitorId) {
      const monitor = monitors.get(monitorId)
      if (monitor) monitor.concluded = null
    },
    discardAllConclusions() {
      for (const monitor of monitors.values()) monitor.concluded = null
    },
    setDifference: compared => setDifference(monitors.get(compared.monitorId), compared),
    get: monitorId => monitors.get(monitorId),
    all: () => monitors.values(),
    size: () => monitors.size,
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

function setDifference(monitor: AssignedMonitor | undefined, compared: ScreenshotDifference): void {
  const { difference, configVersion, validUntilMs } = compared
  if (!monitor || (configVersion !== undefined && configVersion !== monitor.assignment.configVersion)) return
  monitor.assignment.screenshotDifference = difference
  monitor.assignment.screenshotValidUntilMs = validUntilMs
}

/**
 * The retired monitors with attempts in flight, by id. `takeOtherVersion` removes the one of an assignment, and returns it if it
 * has another version: results of the same version may still count.
 */
function createLeavingMonitors() {
  const monitors = new Map<string, AssignedMonitor>()
  const isInFlight = ({ chain }: AssignedMonitor) =>
    chain !== null && !chain.isOver && chain.attempts.some(({ result }) => result === null)
  return {
    add(monitor: AssignedMonitor) {
      if (isInFlight(monitor)) monitors.set(monitor.assignment.monitorId, monitor)
    },
    takeOtherVersion({ monitorId, configVersion }: Assignment): AssignedMonitor[] {
      const monitor = monitors.get(monitorId)
      monitors.delete(monitorId)
      return monitor && monitor.assignment.configVersion !== configVersion ? [monitor] : []
    },
    prune() {
      for (const [id, monitor] of monitors) if (!isInFlight(monitor)) monitors.delete(id)
    },
  }
}

function setState(monitor: AssignedMonitor, state: RegionState): void {
  monitor.state = state
  monitor.concluded = null
}

/** A new chain of a monitor. `nowMs`: by the monotonic clock. */
export function createRecheckChain(
  monitor: AssignedMonitor,
  nowMs: number,
  scheduledAtMs: number,
  trigger: Trigger,
  runId: string,
): RecheckChain {
  const requests =
    runId === '' ? [] : [{ runId, trigger, askedMs: nowMs, fromAttempt: 1, earlier: null, cancelTimer() {} }]
  const fresh = { attempts: [], settled: 0, last: null, isReported: false, isOver: false }
  return { scheduledAtMs, trigger, runId, requests, state: resolveStartState(monitor, nowMs), ...fresh }
}

function createAssignedMonitor(assignment: Assignment, region: string): AssignedMonitor {
  return {
    assignment,
    tenant: assignment.tenant,
    slots: computeSlots(assignment.monitorId, region, assignment.intervalS),
    state: assignment.regionState,
    concluded: null,
    chain: null,
    unknownChains: 0,
    responseTimes: createResponseTimes(),
    lastScheduledMs: 0,
    comparedMs: null,
    isRetired: false,
    dueMs: 0,
    heapIndex: -1,
  }
}
