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

export type ProbeWorkOptions = {
  /** the first one; it says whose work this is */
  welcome: Welcome
  post: ResultTransport
  clock: RemoteClock
  run: (spec: CheckSpec, cancellation?: Cancellation, isOfOthers?: boolean) => Promise<CheckExecution>
  sendRunDone: (runDone: RunDone) => void
  sendSilent: (silent: Silent) => void
  /** null: no browser here */
  shutter: ScreenshotCapture | null
  sendScreenshotWanted: (order: ScreenshotOrder) => void
  compareEveryMs: number
  maxConcurrentChecks: number
  log: Log
  /** the machine's own unless given */
  timers?: Timers
}

/** What the probe does for the control plane: it keeps the assignments, checks them, and goes on while it is cut off. */
export type ProbeWork = {
  region: string
  welcome: (welcome: Welcome) => void
  receive: (body: FleetMessageBody) => void
  clockLearned: CheckLoop['clockLearned']
  /** a result of this monitor was not taken in time */
  markLate: (monitorId: string) => void
  /** what the probe has, for its hello */
  getRevision: () => Pick<Hello, 'lastRevision' | 'lastEpoch'>
  load: CheckLoop['load']
  /** how many monitors it checks */
  monitors: () => number
  /** Takes no more checks on demand; slots go on. */
  stopOnDemandChecks: () => void
  /** Starts nothing more; resolves when the last check has ended. */
  drain: () => Promise<void>
}

export function startProbeWork(parts: ProbeWorkOptions): ProbeWork {
  const { welcome, post, clock, run, sendRunDone, sendSilent, shutter, sendScreenshotWanted, compareEveryMs, log } =
    parts
  const { probeId, region } = welcome
  const watches = createAssignedMonitors(region)
  const answer = (runId: string, result: Result) => sendRunDone({ runId, probeId, result })
  const nowMs = () => clock.nowMs() ?? 0
  const studio = shutter && createCaptureQueue({ shutter, probeId, nowMs, send: post.sendScreenshot, log })
  const sittings = createCapturePolicy({ region, studio, askFleet: sendScreenshotWanted, compareEveryMs })
  const loop = createCheckLoop({
    watches,
    clock,
    run,
    publish: post.publish,
    answer,
    onChainEnd: sittings.chainEnded,
    onSilent: ({ assignment: { monitorId, configVersion } }) => sendSilent({ monitorId, configVersion }),
    maxConcurrentChecks: parts.maxConcurrentChecks,
    log,
    timers: parts.timers,
  })
  const runNow = createRunNowHandler({ loop, watches, clock, publish: post.publish, answer })
  let isNewLink = true

  function apply(message: Assignments): void {
    loop.apply(message)
    if (message.epoch !== undefined && (!message.isSnapshot || message.isLast)) loop.setEpoch(message.epoch)
    if (!isNewLink || (message.isSnapshot && !message.isLast)) return
    isNewLink = false
    const { revision } = message
    log.info(
      { event: 'connected', region, probe_id: probeId, monitors: watches.size(), revision },
      'assignments applied',
    )
  }

  return {
    region,
    welcome(next) {
      isNewLink = true
      watches.restartSnapshot()
      // What a probe that was cut off still has may be another's by now: until it hears, its results are history.
      if (watches.size() === 0) loop.setEpoch(next.epoch)
      post.useWelcome(next)
    },
    receive(body) {
      if (body.$case === 'assignments') apply(body.value)
      else if (body.$case === 'epochChanged') {
        loop.setEpoch(body.value.epoch)
        watches.setEpoch(body.value.epoch)
      } else if (body.$case === 'regionStates') watches.setStates(body.value.states)
      else if (body.$case === 'runNow') runNow(body.value)
      else if (body.$case === 'takeScreenshot') sittings.takeFor(body.value)
      else if (body.$case === 'screenshotDifference') {
        watches.setDifference(body.value.monitorId, body.value.difference)
      }
      // The control plane takes its work back; the link stays, and a later delta may bring new work.
      else if (body.$case === 'drain') loop.apply(NOTHING_ASSIGNED)
    },
    clockLearned: loop.clockLearned,
    markLate: watches.discardConclusion,
    getRevision: () => ({ lastRevision: watches.revision(), lastEpoch: watches.epoch() }),
    load: loop.load,
    monitors: watches.size,
    stopOnDemandChecks: loop.stopOnDemandChecks,
    drain() {
      studio?.close()
      return loop.drain()
    },
  }
}

const NOTHING_ASSIGNED: Assignments = { isSnapshot: true, isLast: true, revision: 0, upserts: [], removals: [] }
