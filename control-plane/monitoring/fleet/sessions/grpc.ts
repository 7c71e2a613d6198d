import { type ServerDuplexStream, status } from '@grpc/grpc-js'
import {
  type FleetMessage,
  type FleetServer,
  type Hello,
  type ProbeMessage,
  RunDone,
} from '../../../../proto/gen/probe/v1/fleet.ts'
import { runDoneSubject } from '../../../../shared/nats/subjects.ts'
import { isId, newId } from '../../../foundation/platform/ids.ts'
import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { parsePeerAddress, toSocketNetwork } from '../../../foundation/platform/network/client-network.ts'
import { monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { getRegionPlan } from '../assignments/assignment-table.ts'
import { isPlanned } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'
import { recordDraining } from '../live-sets/round-actions.ts'
import { issueNatsCredentials } from '../probes/access-worker.ts'
import { recordConnection } from '../probes/enrolment-actions.ts'
import { parseProbeCredentials } from '../probes/probe-credentials.ts'
import { buildOpinion, type Opinion } from '../second-opinions/opinion.ts'
import { requestSecondOpinions } from '../second-opinions/silent-target-actions.ts'
import { findHelloProblem, toStoredHealth } from './messages.ts'
import { requestScreenshot } from './screenshot-actions.ts'
import { sendPending } from './send-actions.ts'
import { buildSyncQueue, type DisconnectReason, type ProbeSession } from './session.ts'

type Call = ServerDuplexStream<ProbeMessage, FleetMessage>

/** `picket.probe.v1.Fleet`: one stream for each probe (docs/design/assignments.md#sessions). */
export function createFleetHandlers(context: FleetContext): FleetServer {
  return {
    connect(call) {
      welcomeProbe(context, call).catch(error => {
        context.log.error({ err: error }, 'a probe could not be admitted')
        refuse(call, status.UNAVAILABLE, 'the control plane cannot admit probes at the moment; try again')
      })
    },
  }
}

async function welcomeProbe(context: FleetContext, call: Call): Promise<void> {
  const caller = await authenticateCall(context, call)
  if ('busy' in caller) return refuse(call, status.UNAVAILABLE, caller.busy)
  if ('refusal' in caller) return refuse(call, status.UNAUTHENTICATED, caller.refusal)
  const first = await firstMessage(call, context.timing.deadAfterMs)
  if (first === null) return refuse(call, status.DEADLINE_EXCEEDED, 'the first message did not arrive in time')
  if (first.body?.$case !== 'hello') return refuse(call, status.INVALID_ARGUMENT, 'the first message must be Hello')
  const hello = first.body.value
  const fault = findHelloProblem(hello)
  if (fault !== null) return refuse(call, status.INVALID_ARGUMENT, fault)

  const { region } = caller
  const { name, instanceId, version, capabilities } = hello
  const connectedTo = `${context.processName} ${newId()}`
  const greeting = { name, instanceId, version, capabilities, connectedTo }
  const admitted = await recordConnection(context.admissionsDb, caller, greeting)
  if ('refusal' in admitted) return refuse(call, status.UNAUTHENTICATED, admitted.refusal)
  // most reconnecting probes are live already: a restart must not read the live set a thousand times
  if (!isPlanned(getRegionPlan(context.assignments, region), { id: admitted.probeId, capabilities }))
    await context.admit(region)
  await context.reconcileEpoch(region, hello.lastEpoch ?? 0)
  if (call.cancelled) return
  if (context.isStopping) return refuse(call, ...DISCONNECT_STATUSES.stopping)
  openSession(context, call, { probeId: admitted.probeId, region, hello, connectedTo })
}

async function authenticateCall(context: FleetContext, call: Call) {
  const text = (name: string) => call.metadata.get(name)[0]?.toString()
  const credentials = parseProbeCredentials(text('authorization'), text('enrolment-token'))
  return 'refusal' in credentials
    ? credentials
    : context.authenticate(toSocketNetwork(parsePeerAddress(call.getPeer())), credentials)
}

type ConnectedProbe = { probeId: string; region: string; hello: Hello; connectedTo: string }

/** Opens a session synchronously, so that no change of the table is lost between the plan that is sent and the session. */
function openSession(context: FleetContext, call: Call, probe: ConnectedProbe): void {
  const { probeId, region, hello } = probe
  const older = context.sessions.get(probeId)
  if (older && older.instanceId !== hello.instanceId) {
    context.log.warn(
      { probeId, region, probe: hello.name },
      'another probe with the same name replaced this one; each probe needs its own name',
    )
  }
  older?.close('replaced')
  const session = createSession(context, call, probe)
  context.sessions.set(probeId, session)
  call.on('data', (message: ProbeMessage) => handleMessage(context, session, message))
  call.on('end', () => session.close('gone'))
  call.on('cancelled', () => session.close('gone'))
  call.resume()

  const { heartbeatIntervalMs, deadAfterMs } = context.timing
  const issued = issueNatsCredentials(context, session)
  session.credentialsEndMs = issued?.endMs ?? 0
  session.send({
    $case: 'welcome',
    value: {
      probeId,
      region,
      natsUrl: context.natsUrl,
      natsCredentials: issued?.credentials ?? '',
      heartbeatIntervalMs,
      deadAfterMs,
      epoch: getRegionPlan(context.assignments, region).epoch,
    },
  })
  context.log.info({ probeId, region, probe: hello.name, version: hello.version }, 'a probe connected')
  sendPending(context, session)
}

function createSession(
  context: FleetContext,
  call: Call,
  { probeId, region, hello, connectedTo }: ConnectedProbe,
): ProbeSession {
  const session: ProbeSession = {
    probeId,
    region,
    name: hello.name,
    instanceId: hello.instanceId,
    connectedTo,
    syncQueue: buildSyncQueue(context.assignments, region, probeId, hello),
    isSending: false,
    isOpen: true,
    lastMessageMs: monotonicMs(),
    recordedMs: monotonicMs(),
    credentialsEndMs: 0,
    offlineSinceMs: null,
    isDrainUnrecorded: false,
    health: null,
    canSend: () => session.isOpen && !call.writableNeedDrain,
    async send(body) {
      const isTaken = await write(call, { body }, context.timing.deadAfterMs)
      if (!isTaken) session.close('slow')
      return isTaken
    },
    close(why) {
      if (!session.isOpen) return
      session.isOpen = false
      if (context.sessions.get(probeId) === session) context.sessions.delete(probeId)
      context.metrics.closed.inc({ reason: why })
      context.log.info({ probeId, region, probe: session.name, reason: why }, 'the session to a probe ended')
      context.endedConnections.push(connectedTo)
      if (why === 'gone') call.end()
      else refuse(call, ...DISCONNECT_STATUSES[why])
    },
  }
  return session
}

/** Handles a message of a probe after its hello. Every message shows that the probe is active. */
function handleMessage(context: FleetContext, session: ProbeSession, { body }: ProbeMessage): void {
  if (!session.isOpen) return
  session.lastMessageMs = monotonicMs()
  switch (body?.$case) {
    case 'heartbeat':
      // The probe estimates JetStream's time from this message, so it is sent without delay. The verdict orders results by that time.
      session.send({ $case: 'heartbeatAck', value: { seq: body.value.seq, nowMs: jetstreamNowMs(context.nats) } })
      session.offlineSinceMs = body.value.connectivityOk ? null : (session.offlineSinceMs ?? session.lastMessageMs)
      session.health = toStoredHealth(
        body.value,
        session.lastMessageMs - (session.offlineSinceMs ?? session.lastMessageMs),
      )
      return
    case 'runDone': {
      publishRunDone(context, session, body.value)
      return
    }
    case 'screenshotWanted':
      requestScreenshot(context, session.region, body.value)
      return
    case 'silent':
      requestSecondOpinions(context, session, body.value)
      return
    case 'draining':
      context.log.info({ probeId: session.probeId, region: session.region, probe: session.name }, 'a probe is draining')
      session.isDrainUnrecorded = true
      recordDraining(context.db, session).then(
        () => context.wake(),
        error =>
          context.log.error(
            { err: error, probeId: session.probeId },
            'a draining probe could not be marked as draining; this is tried again',
          ),
      )
      return
  }
}

/** Sends the answer to the process that asked. Publishes second opinions and witness results for the verdict. */
function publishRunDone(context: FleetContext, session: ProbeSession, done: RunDone): void {
  const { runId } = done
  // it becomes a part of a NATS subject
  if (!isId(runId)) return
  const run = context.runs.get(runId)
  if (!run?.witnessed) {
    const answer = RunDone.encode({ ...done, probeId: session.probeId }).finish()
    if (run) run.answer = answer
    context.nats.connection.publish(runDoneSubject(runId), answer)
  }
  const opinion = buildOpinion(context, session, done)
  if (opinion) publishOpinion(context, opinion)
}

const LOSS_MESSAGES = { opinion: 'a second opinion was lost', witness: 'the result of a witness was lost' }

function publishOpinion(context: FleetContext, { what, region, monitorId, subject, data, id }: Opinion): void {
  context.nats.js.publish(subject, data, { msgID: id }).catch(err => {
    context.metrics.lost.inc({ what })
    context.log.warn({ err, region, monitorId }, LOSS_MESSAGES[what])
  })
}

const DISCONNECT_STATUSES: Record<Exclude<DisconnectReason, 'gone'>, [status, string]> = {
  silent: [status.DEADLINE_EXCEEDED, 'no message of this probe arrived for too long'],
  slow: [status.RESOURCE_EXHAUSTED, 'this probe does not read its messages'],
  replaced: [status.ABORTED, 'a newer connection with the same token and probe name replaced this one'],
  superseded: [status.ABORTED, 'the probe is connected to another process'],
  revoked: [status.UNAUTHENTICATED, 'this probe was revoked'],
  failed: [status.INTERNAL, 'the control plane had an internal error; connect again'],
  stopping: [status.UNAVAILABLE, 'the control plane is stopping; connect again shortly'],
}

/** Ends the stream with a status. grpc-js reads it from the stream's error. */
function refuse(call: Call, code: status, details: string): void {
  call.emit('error', Object.assign(new Error(details), { code, details }))
}

/** Waits for the first message. Returns null when none arrives in time. Later messages remain in the stream. */
async function firstMessage(call: Call, timeoutMs: number): Promise<ProbeMessage | null> {
  const waiting = new AbortController()
  let first: ProbeMessage | null = null
  const take = (message: ProbeMessage) => {
    call.pause()
    first = message
    waiting.abort()
  }
  const stopWaiting = () => waiting.abort()
  call.on('data', take).on('end', stopWaiting).on('cancelled', stopWaiting)
  await sleep(timeoutMs, waiting.signal)
  call.pause()
  call.off('data', take).off('end', stopWaiting).off('cancelled', stopWaiting)
  return first
}

/** Returns true when the transport accepted the message, false when the stream broke or the time limit passed. */
async function write(call: Call, message: FleetMessage, timeoutMs: number): Promise<boolean> {
  if (call.writableEnded || call.destroyed) return false
  const waiting = new AbortController()
  let isTaken = false
  call.write(message, (error: unknown) => {
    isTaken = !error
    waiting.abort()
  })
  await sleep(timeoutMs, waiting.signal)
  return isTaken
}
