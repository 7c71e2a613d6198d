import type { ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { Trigger } from '../../../../shared/checks/result.ts'
import {
  type DifferenceHint,
  differenceHintSubject,
  type RunHint,
  runDoneSubject,
  runHintSubject,
  screenshotHintSubject,
  secondPictureSubject,
  stateHintSubject,
  WITNESS_SUBJECT,
} from '../../../../shared/nats/subjects.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { getRegionPlan } from '../assignments/assignment-table.ts'
import { findOwner, getRequiredCapability, pickProbe } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import { decryptSpec } from '../on-demand/encrypted-spec.ts'
import { trackRun } from '../on-demand/in-flight-runs.ts'
import { findRunTarget, type RunTarget } from '../on-demand/run-target.ts'
import { forwardToWitnesses } from '../second-opinions/witness-actions.ts'
import { parseRunHint, parseScreenshotOrder, parseStateHint } from './messages.ts'
import { requestScreenshot } from './screenshot-actions.ts'
import { sendPending } from './send-actions.ts'
import { queueRun } from './sync-queue.ts'

/**
 * Forwards hints of the verdict and the API from core NATS to probes: region states, immediate checks, screenshots and
 * differences of pages. Every fleet process receives all hints and serves the probes that are connected to it.
 */
export function startHintReader(context: FleetContext): { stop(): void } {
  const subscribe = (subject: string, handle: (region: string, data: unknown) => void) =>
    context.nats.connection.subscribe(subject, {
      callback(error, message) {
        if (!error) handle(parseRegion(message), parseJson(message))
      },
    })
  const subscribeOrders = (subject: string, handle: (last: string, order: ScreenshotOrder) => void) =>
    context.nats.connection.subscribe(subject, {
      callback(error, message) {
        const order = error ? null : parseScreenshotOrder(message.data)
        if (order) handle(parseRegion(message), order)
      },
    })
  const subscriptions = [
    subscribe(runHintSubject('*'), (region, data) => {
      const hint = parseRunHint(data)
      if (!hint) return
      forwardRun(context, region, hint).catch(error => context.log.error({ err: error, region }, 'a hint was lost'))
    }),
    subscribe(WITNESS_SUBJECT, (_, data) => forwardToWitnesses(context, data)),
    subscribe(stateHintSubject('*'), (region, data) => forwardStates(context, region, data)),
    subscribe(differenceHintSubject('*'), (region, data) => forwardDifference(context, region, data)),
    subscribeOrders(screenshotHintSubject('*'), (probeId, order) => forwardScreenshotOrder(context, probeId, order)),
    subscribeOrders(secondPictureSubject('*'), (region, order) => forwardSecondPicture(context, region, order)),
  ]
  return {
    stop() {
      for (const subscription of subscriptions) subscription.unsubscribe()
    },
  }
}

function forwardStates(context: FleetContext, region: string, data: unknown): void {
  for (const { monitorId, state } of parseStateHint(data)) {
    const session = findMonitorSession(context, region, monitorId)
    if (!session) continue
    session.syncQueue.states.set(monitorId, state)
    sendPending(context, session)
  }
}

/** Forwards an order for a screenshot to a probe with a browser, with the current settings and their version. */
function forwardScreenshotOrder(context: FleetContext, probeId: string, wanted: ScreenshotOrder): void {
  const entry = context.assignments.monitors.entries.get(wanted.monitorId)
  const session = context.sessions.get(probeId)
  if (!session || !entry?.spec) return
  const { spec, configVersion, tenant } = entry
  const order = { ...wanted, configVersion }
  if (session.canSend()) session.send({ $case: 'takeScreenshot', value: { order, spec, tenant } })
  else context.metrics.lost.inc({ what: 'screenshot' })
}

/** Only the process with the session of the monitor's probe requests the picture. */
function forwardSecondPicture(context: FleetContext, region: string, order: ScreenshotOrder): void {
  if (findMonitorSession(context, region, order.monitorId)) requestScreenshot(context, region, order)
}

function forwardDifference(context: FleetContext, region: string, data: unknown): void {
  const hint = data as Partial<DifferenceHint> | null
  if (typeof hint?.monitorId !== 'string') return
  const { monitorId, configVersion, validUntilMs } = hint
  const difference = typeof hint.difference === 'number' ? hint.difference : undefined
  const value = { monitorId, difference, configVersion, validUntilMs }
  findMonitorSession(context, region, monitorId)?.send({ $case: 'screenshotDifference', value })
}

/** The session of the probe that checks a monitor in a region; undefined: another process has it, or there is none. */
const findMonitorSession = ({ assignments, sessions }: FleetContext, region: string, monitorId: string) =>
  sessions.get(findOwner(getRegionPlan(assignments, region), monitorId) ?? '')

/** Every process selects the same probe. The one that has its session forwards the hint, once. */
async function forwardRun(context: FleetContext, region: string, hint: RunHint): Promise<void> {
  const { runId, monitorId, trigger, scheduledAtMs } = hint
  const run =
    hint.sealedSpec === undefined ? await findMonitorRun(context, region, hint) : findTestRun(context, region, hint)
  const inFlight = context.runs.get(runId)
  if (inFlight?.answer) context.nats.connection.publish(runDoneSubject(runId), inFlight.answer)
  const session = context.sessions.get(run?.probeId ?? '')
  if (!run || !session || inFlight?.answer || inFlight?.session.isOpen) return
  if (!queueRun(session.syncQueue, { runId, monitorId, trigger, scheduledAtMs, spec: run.spec, tenant: run.tenant })) {
    context.metrics.lost.inc({ what: 'run' })
    return
  }
  // no process waits for a second opinion or repeats the hint for it
  if (trigger === Trigger.RUN_NOW) trackRun(context.runs, runId, session, monotonicMs())
  sendPending(context, session)
}

/** Reads changes first, because a check may be requested just after its monitor was created or changed. */
async function findMonitorRun(context: FleetContext, region: string, hint: RunHint): Promise<RunTarget | null> {
  const { monitorId, configVersion = 0 } = hint
  if ((context.assignments.monitors.entries.get(monitorId)?.configVersion ?? -1) < configVersion)
    await context.syncMonitors()
  return findRunTarget(context.assignments, region, hint)
}

/** Selects a live probe with the required capability by the run id. */
function findTestRun(context: FleetContext, region: string, { runId, sealedSpec = '' }: RunHint): RunTarget | null {
  const spec = decryptSpec(sealedSpec, runId, context.secrets)
  const probeId = pickProbe(getRegionPlan(context.assignments, region), runId, getRequiredCapability(spec))
  return probeId === null ? null : { probeId, spec }
}

type Message = { subject: string; json(): unknown }

const parseRegion = (message: Message) => message.subject.slice(message.subject.lastIndexOf('.') + 1)

function parseJson(message: Message): unknown {
  try {
    return message.json()
  } catch {
    return null
  }
}
