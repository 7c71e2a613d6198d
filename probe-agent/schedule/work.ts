import type { Assignments, Hello, RunDone, RunNow, Silent, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import type { ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Result } from '../../shared/checks/result.ts'
import type { Log } from '../../shared/process/log.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { Timers } from '../clock.ts'
import type { CheckExecution, CheckRunOptions } from '../execution/run-check.ts'
import type { FleetMessageBody } from '../fleet/fleet-client.ts'
import type { ResultTransport } from '../results/result-transport.ts'
import type { ScreenshotCapture } from '../screenshots/capture.ts'
import { type CapturePolicy, createCapturePolicy } from '../screenshots/capture-policy.ts'
import { createCaptureQueue } from '../screenshots/capture-queue.ts'
import { type AssignedMonitors, createAssignedMonitors } from './assigned-monitors.ts'
import { type CheckLoop, createCheckLoop } from './loop.ts'
import { createRunNowHandler } from './run-now.ts'

type ProbeWorkOptions = {
  /** the first welcome message, with the ids of probe and region */
  welcome: Welcome
  transport: ResultTransport
  clock: RemoteClock
  run: (spec: CheckSpec, options: CheckRunOptions) => Promise<CheckExecution>
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
  const { welcome, transport, log } = parts
  const { probeId, region } = welcome
  const monitors = createAssignedMonitors(region)
  const { captureQueue, capturePolicy } = createCaptures(parts)
  const answer = (runId: string, result: Result) => parts.sendRunDone({ runId, probeId, result })
  const loop = createLoop(parts, monitors, capturePolicy, answer)
  const runNow = createRunNowHandler({ loop, monitors, clock: parts.clock, answer })
  const receiver: MessageReceiver = { probeId, region, monitors, loop, runNow, capturePolicy, log, isNewLink: true }
  return {
    region,
    welcome(next) {
      receiver.isNewLink = true
      monitors.restartSnapshot()
      // Assignments from before a disconnect may have moved: until new ones arrive, results keep the old epoch.
      if (monitors.size() === 0) loop.setEpoch(next.epoch)
      transport.useWelcome(next)
    },
    receive: body => receive(receiver, body),
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

/** Creates the queue of captures, null without a browser, and the policy that decides what is captured. */
function createCaptures({
  welcome,
  transport,
  clock,
  capture,
  sendScreenshotWanted,
  compareEveryMs,
  log,
}: ProbeWorkOptions) {
  const { probeId, region } = welcome
  const nowMs = () => clock.nowMs() ?? 0
  const captureQueue = capture && createCaptureQueue({ capture, probeId, nowMs, send: transport.sendScreenshot, log })
  const capturePolicy = createCapturePolicy({
    region,
    captureQueue,
    requestFromFleet: sendScreenshotWanted,
    compareEveryMs,
  })
  return { captureQueue, capturePolicy }
}

function createLoop(
  { clock, run, transport, sendSilent, maxConcurrentChecks, log, timers }: ProbeWorkOptions,
  monitors: AssignedMonitors,
  capturePolicy: CapturePolicy,
  answer: (runId: string, result: Result) => void,
): CheckLoop {
  return createCheckLoop({
    monitors,
    clock,
    run,
    publish: transport.publish,
    answer,
    onChainEnd: capturePolicy.chainEnded,
    onSilent: ({ assignment: { monitorId, configVersion } }) => sendSilent({ monitorId, configVersion }),
    maxConcurrentChecks,
    log,
    timers,
  })
}

/** What the messages of the control plane change. */
type MessageReceiver = {
  probeId: string
  region: string
  monitors: AssignedMonitors
  loop: CheckLoop
  runNow: (request: RunNow) => void
  capturePolicy: CapturePolicy
  log: Log
  /** no complete assignments have arrived since the last welcome message */
  isNewLink: boolean
}

function receive(receiver: MessageReceiver, body: FleetMessageBody): void {
  const { monitors, loop } = receiver
  if (body.$case === 'assignments') apply(receiver, body.value)
  else if (body.$case === 'epochChanged') {
    loop.setEpoch(body.value.epoch)
    monitors.setEpoch(body.value.epoch)
  } else if (body.$case === 'regionStates') monitors.setStates(body.value.states)
  else if (body.$case === 'runNow') receiver.runNow(body.value)
  else if (body.$case === 'takeScreenshot') receiver.capturePolicy.takeFor(body.value)
  else if (body.$case === 'screenshotDifference') monitors.setDifference(body.value)
  // The control plane removes all assignments. The connection stays; a later delta may assign monitors again.
  else if (body.$case === 'drain') loop.apply(NOTHING_ASSIGNED)
}

function apply(receiver: MessageReceiver, message: Assignments): void {
  const { loop, monitors, region, probeId, log } = receiver
  loop.apply(message)
  if (message.epoch !== undefined && (!message.isSnapshot || message.isLast)) loop.setEpoch(message.epoch)
  if (!receiver.isNewLink || (message.isSnapshot && !message.isLast)) return
  receiver.isNewLink = false
  const { revision } = message
  log.info(
    { event: 'connected', region, probe_id: probeId, monitors: monitors.size(), revision },
    'assignments applied',
  )
}

const NOTHING_ASSIGNED: Assignments = { isSnapshot: true, isLast: true, revision: 0, upserts: [], removals: [] }
