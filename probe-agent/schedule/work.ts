import type { Assignments, Hello, RunDone, Silent, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import type { ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Result } from '../../shared/checks/result.ts'
import type { Cancellation } from '../../shared/egress/index.ts'
import type { Log } from '../../shared/process/log.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { Timers } from '../clock.ts'
import type { CheckExecution } from '../execution/run-check.ts'
import type { FleetMessageBody } from '../fleet/fleet-client.ts'
import type { ResultTransport } from '../results/result-transport.ts'
import type { ScreenshotCapture } from '../screenshots/capture.ts'
import { createCapturePolicy } from '../screenshots/capture-policy.ts'
import { createCaptureQueue } from '../screenshots/capture-queue.ts'
import { createAssignedMonitors } from './assigned-monitors.ts'
import { type CheckLoop, createCheckLoop } from './loop.ts'
import { createRunNowHandler } from './run-now.ts'

type ProbeWorkOptions = {
  /** the first welcome message, with the ids of probe and region */
  welcome: Welcome
  transport: ResultTransport
  clock: RemoteClock
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<CheckExecution>
  sendRunDone: (runDone: RunDone) => void
  sendSilent: (silent: Silent) => void
  /** null: no browser on this machine */
  capture: ScreenshotCapture | null
  sendScreenshotWanted: (order: ScreenshotOrder) => void
  compareEveryMs: number
  maxConcurrentChecks: number
  log: Log
  /** default: those of the machine */
  timers?: Timers
}

/** Applies the messages of the control plane and checks the assigned monitors, with or without a connection. */
export type ProbeWork = {
  region: string
  welcome: (welcome: Welcome) => void
  receive: (body: FleetMessageBody) => void
  clockLearned: CheckLoop['clockLearned']
  /** A result of this monitor was not published in time. */
  markLate: (monitorId: string) => void
  /** the revision and epoch of the assignments, for the hello message */
  getRevision: () => Pick<Hello, 'lastRevision' | 'lastEpoch'>
  load: CheckLoop['load']
  /** number of assigned monitors */
  monitors: () => number
  /** Refuses checks on demand from now on; slots continue. */
  stopOnDemandChecks: () => void
  /** Starts no more checks; resolves when the last one has ended. */
  drain: () => Promise<void>
}

export function startProbeWork(parts: ProbeWorkOptions): ProbeWork {
  const {
    welcome,
    transport,
    clock,
    run,
    sendRunDone,
    sendSilent,
    capture,
    sendScreenshotWanted,
    compareEveryMs,
    log,
  } = parts
  const { probeId, region } = welcome
  const monitors = createAssignedMonitors(region)
  const answer = (runId: string, result: Result) => sendRunDone({ runId, probeId, result })
  const nowMs = () => clock.nowMs() ?? 0
  const captureQueue = capture && createCaptureQueue({ capture, probeId, nowMs, send: transport.sendScreenshot, log })
  const capturePolicy = createCapturePolicy({
    region,
    captureQueue,
    requestFromFleet: sendScreenshotWanted,
    compareEveryMs,
  })
  const loop = createCheckLoop({
    monitors,
    clock,
    run,
    publish: transport.publish,
    answer,
    onChainEnd: capturePolicy.chainEnded,
    onSilent: ({ assignment: { monitorId, configVersion } }) => sendSilent({ monitorId, configVersion }),
    maxConcurrentChecks: parts.maxConcurrentChecks,
    log,
    timers: parts.timers,
  })
  const runNow = createRunNowHandler({ loop, monitors, clock, publish: transport.publish, answer })
  let isNewLink = true

  function apply(message: Assignments): void {
    loop.apply(message)
    if (message.epoch !== undefined && (!message.isSnapshot || message.isLast)) loop.setEpoch(message.epoch)
    if (!isNewLink || (message.isSnapshot && !message.isLast)) return
    isNewLink = false
    const { revision } = message
    log.info(
      { event: 'connected', region, probe_id: probeId, monitors: monitors.size(), revision },
      'assignments applied',
    )
  }

  return {
    region,
    welcome(next) {
      isNewLink = true
      monitors.restartSnapshot()
      // Assignments from before a disconnect may have moved: until new ones arrive, results keep the old epoch.
      if (monitors.size() === 0) loop.setEpoch(next.epoch)
      transport.useWelcome(next)
    },
    receive(body) {
      if (body.$case === 'assignments') apply(body.value)
      else if (body.$case === 'epochChanged') {
        loop.setEpoch(body.value.epoch)
        monitors.setEpoch(body.value.epoch)
      } else if (body.$case === 'regionStates') monitors.setStates(body.value.states)
      else if (body.$case === 'runNow') runNow(body.value)
      else if (body.$case === 'takeScreenshot') capturePolicy.takeFor(body.value)
      else if (body.$case === 'screenshotDifference') {
        monitors.setDifference(body.value.monitorId, body.value.difference)
      }
      // The control plane removes all assignments. The connection stays; a later delta may assign monitors again.
      else if (body.$case === 'drain') loop.apply(NOTHING_ASSIGNED)
    },
    clockLearned: loop.clockLearned,
    markLate: monitors.discardConclusion,
    getRevision: () => ({ lastRevision: monitors.revision(), lastEpoch: monitors.epoch() }),
    load: loop.load,
    monitors: monitors.size,
    stopOnDemandChecks: loop.stopOnDemandChecks,
    drain() {
      captureQueue?.close()
      return loop.drain()
    },
  }
}

const NOTHING_ASSIGNED: Assignments = { isSnapshot: true, isLast: true, revision: 0, upserts: [], removals: [] }
