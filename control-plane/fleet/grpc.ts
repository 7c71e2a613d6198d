import { type ServerDuplexStream, status } from '@grpc/grpc-js'
import {
  type FleetMessage,
  type FleetServer,
  type Hello,
  type ProbeMessage,
  RunDone,
} from '../../proto/gen/probe/v1/fleet.ts'
import { runDoneSubject } from '../../shared/subjects.ts'
import { monotonicMs, sleep } from '../platform/clock.ts'
import { isId, newId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import { natsCredentialsFor } from './access-worker.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { type Caller, findCaller, recordConnection } from './enrolment-actions.ts'
import { keysOf } from './keys.ts'
import { type Farewell, type Link, type MessageBody, outboxFor } from './link.ts'
import { assignmentsOf, healthOf, helloFault } from './messages.ts'
import { type Opinion, takeOpinion } from './opinions.ts'
import { type Piece, takePiece } from './outbox.ts'
import { isPlanned } from './plan.ts'
import { askForScreenshot, differencesFor } from './screenshot-actions.ts'
import { askOtherRegions } from './silent-actions.ts'
import { markDraining, storedStates } from './store.ts'

type Call = ServerDuplexStream<ProbeMessage, FleetMessage>

/** `picket.probe.v1.Fleet`: one stream a probe, for as long as both live (decisions 11.1). */
export function fleetImplementation(desk: Desk): FleetServer {
  return {
    connect(call) {
      welcomeProbe(desk, call).catch(error => {
        desk.log.error({ err: error }, 'a probe could not be let in')
        refuse(call, status.UNAVAILABLE, 'the control plane cannot let probes in just now; try again')
      })
    },
  }
}

async function welcomeProbe(desk: Desk, call: Call): Promise<void> {
  const caller = await callerOf(desk, call)
  if ('refusal' in caller) return refuse(call, status.UNAUTHENTICATED, caller.refusal)
  const first = await firstMessage(call, desk.timing.deadAfterMs)
  if (first === null) return refuse(call, status.DEADLINE_EXCEEDED, 'the first message did not come in time')
  if (first.body?.$case !== 'hello') return refuse(call, status.INVALID_ARGUMENT, 'the first message has to be Hello')
  const hello = first.body.value
  const fault = helloFault(hello)
  if (fault !== null) return refuse(call, status.INVALID_ARGUMENT, fault)

  const { region } = caller
  const { name, instanceId, version, capabilities } = hello
  const connectedTo = `${desk.processName} ${newId()}`
  const greeting = { name, instanceId, version, capabilities, connectedTo }
  const entered = await recordConnection(desk.db, caller, greeting)
  if ('refusal' in entered) return refuse(call, status.UNAUTHENTICATED, entered.refusal)
  // most of those that come back are live as they are: a restart must not look a thousand times who else is
  if (!isPlanned(planOf(desk.book, region), { id: entered.probeId, capabilities })) await desk.admit(region)
  await desk.heedEpoch(region, hello.lastEpoch ?? 0)
  if (call.cancelled) return
  if (desk.isStopping) return refuse(call, ...FAREWELLS.stopping)
  openLink(desk, call, { probeId: entered.probeId, region, hello, connectedTo })
}

async function callerOf(desk: Desk, { metadata }: Call): Promise<Caller | { refusal: string }> {
  const text = (name: string) => metadata.get(name)[0]?.toString()
  const keys = keysOf(text('authorization'), text('enrolment-token'))
  return 'refusal' in keys ? keys : findCaller(desk.db, keys)
}

type Newcomer = { probeId: string; region: string; hello: Hello; connectedTo: string }

/** From here on nothing waits, so no change of the book can slip between the plan that is sent and the link. */
function openLink(desk: Desk, call: Call, probe: Newcomer): void {
  const { probeId, region, hello } = probe
  const older = desk.links.get(probeId)
  if (older && older.instanceId !== hello.instanceId) {
    desk.log.warn({ probeId, region, probe: hello.name }, 'another probe took over: each needs a name of its own')
  }
  older?.close('replaced')
  const link = createLink(desk, call, probe)
  desk.links.set(probeId, link)
  call.on('data', (message: ProbeMessage) => hear(desk, link, message))
  call.on('end', () => link.close('gone'))
  call.on('cancelled', () => link.close('gone'))
  call.resume()

  const { heartbeatIntervalMs, deadAfterMs } = desk.timing
  const access = natsCredentialsFor(desk, link)
  link.credentialsEndMs = access?.endMs ?? 0
  link.send({
    $case: 'welcome',
    value: {
      probeId,
      region,
      natsUrl: desk.natsUrl,
      natsCredentials: access?.credentials ?? '',
      heartbeatIntervalMs,
      deadAfterMs,
      epoch: planOf(desk.book, region).epoch,
    },
  })
  desk.log.info({ probeId, region, probe: hello.name, version: hello.version }, 'a probe connected')
  pump(desk, link)
}

function createLink(desk: Desk, call: Call, { probeId, region, hello, connectedTo }: Newcomer): Link {
  const link: Link = {
    probeId,
    region,
    name: hello.name,
    instanceId: hello.instanceId,
    connectedTo,
    outbox: outboxFor(desk.book, region, probeId, hello),
    isPumping: false,
    isOpen: true,
    lastHeardMs: monotonicMs(),
    recordedMs: monotonicMs(),
    credentialsEndMs: 0,
    offlineSinceMs: null,
    health: null,
    isFree: () => link.isOpen && !call.writableNeedDrain,
    async send(body) {
      const isTaken = await write(call, { body }, desk.timing.deadAfterMs)
      if (!isTaken) link.close('slow')
      return isTaken
    },
    close(why) {
      if (!link.isOpen) return
      link.isOpen = false
      if (desk.links.get(probeId) === link) desk.links.delete(probeId)
      desk.meters.closed.inc({ reason: why })
      desk.log.info({ probeId, region, probe: link.name, reason: why }, 'the link to a probe ended')
      desk.ended.push(connectedTo)
      if (why === 'gone') call.end()
      else refuse(call, ...FAREWELLS[why])
    },
  }
  return link
}

/**
 * Sends what the link owes, a message at a time and only as fast as the probe takes them. A call while one is at work
 * does nothing: that one sees what was added.
 */
export async function pump(desk: Desk, link: Link): Promise<void> {
  if (link.isPumping) return
  link.isPumping = true
  try {
    while (link.isOpen) {
      const now = { revision: desk.book.roster.revision, epoch: planOf(desk.book, link.region).epoch }
      const piece = takePiece(link.outbox, now, id => desk.book.roster.entries.get(id)?.sizeBytes ?? 64)
      if (piece === null) return
      await link.send(await bodyOf(desk, link, piece))
    }
  } catch (error) {
    desk.log.error({ err: error, probeId: link.probeId }, 'assignments could not be sent')
    link.close('failed')
  } finally {
    link.isPumping = false
  }
}

async function bodyOf(desk: Desk, { region, probeId }: Link, piece: Piece): Promise<MessageBody> {
  switch (piece.kind) {
    case 'assignments': {
      const ids = piece.ids.map(([id]) => id)
      // without the database nothing new can be planned, but what is planned goes out
      const states = await storedStates(desk.db, region, ids).catch(error => {
        desk.log.warn({ err: error, probeId }, 'assignments go out without region states')
        return null
      })
      const differences = await differencesFor(desk, region, ids)
      return { $case: 'assignments', value: assignmentsOf(piece, { ...desk, region, probeId, states, differences }) }
    }
    case 'epoch':
      return { $case: 'epochChanged', value: { epoch: piece.epoch } }
    case 'states':
      return {
        $case: 'regionStates',
        value: { states: piece.states.map(([monitorId, state]) => ({ monitorId, state })) },
      }
    case 'run':
      return { $case: 'runNow', value: piece.run }
  }
}

/** What a probe says after its hello. Whatever it says shows that it lives. */
function hear(desk: Desk, link: Link, { body }: ProbeMessage): void {
  if (!link.isOpen) return
  link.lastHeardMs = monotonicMs()
  switch (body?.$case) {
    case 'heartbeat':
      // JetStream's time, by which the verdict refuses and orders results. The probe learns it from this, so nothing may come between.
      link.send({ $case: 'heartbeatAck', value: { seq: body.value.seq, nowMs: logNowMs(desk.nats) } })
      link.offlineSinceMs = body.value.connectivityOk ? null : (link.offlineSinceMs ?? link.lastHeardMs)
      link.health = healthOf(body.value, link.lastHeardMs - (link.offlineSinceMs ?? link.lastHeardMs))
      return
    case 'runDone': {
      publishRunDone(desk, link, body.value)
      return
    }
    case 'screenshotWanted':
      askForScreenshot(desk, link.region, body.value)
      return
    case 'silent':
      askOtherRegions(desk, link, body.value)
      return
    case 'draining':
      desk.log.info({ probeId: link.probeId, region: link.region, probe: link.name }, 'a probe drains')
      markDraining(desk.db, link.probeId, link.connectedTo).then(
        () => desk.wake(),
        error => desk.log.error({ err: error, probeId: link.probeId }, 'a draining probe could not be taken out'),
      )
      return
  }
}

/** Answers the process that asked, and passes on to the verdict what concerns it. */
function publishRunDone(desk: Desk, link: Link, done: RunDone): void {
  const { runId } = done
  // it becomes a part of a subject
  if (!isId(runId)) return
  const run = desk.runs.get(runId)
  if (!run?.witnessed) {
    const answer = RunDone.encode({ ...done, probeId: link.probeId }).finish()
    if (run) run.answer = answer
    desk.nats.connection.publish(runDoneSubject(runId), answer)
  }
  const opinion = takeOpinion(desk, link, done)
  if (opinion) publishOpinion(desk, opinion)
}

const LOST = { opinion: 'a second opinion was lost', witness: 'what a witness saw was lost' }

function publishOpinion(desk: Desk, { what, region, monitorId, subject, data, id }: Opinion): void {
  desk.nats.js.publish(subject, data, { msgID: id }).catch(err => {
    desk.meters.lost.inc({ what })
    desk.log.warn({ err, region, monitorId }, LOST[what])
  })
}

const FAREWELLS: Record<Exclude<Farewell, 'gone'>, [status, string]> = {
  silent: [status.DEADLINE_EXCEEDED, 'nothing was heard of this probe for too long'],
  slow: [status.RESOURCE_EXHAUSTED, 'this probe does not read what it is sent'],
  replaced: [status.ABORTED, 'a newer connection with the same token and probe name took over'],
  'taken over': [status.ABORTED, 'the probe is connected elsewhere'],
  revoked: [status.UNAUTHENTICATED, 'this probe was revoked'],
  failed: [status.INTERNAL, 'the control plane failed here; connect again'],
  stopping: [status.UNAVAILABLE, 'the control plane stops; connect again in a moment'],
}

/** Ends the stream with a status; grpc-js takes it as the stream's error. */
function refuse(call: Call, code: status, details: string): void {
  call.emit('error', Object.assign(new Error(details), { code, details }))
}

/** The first message, null when there is none in time. What follows it stays in the stream. */
async function firstMessage(call: Call, patienceMs: number): Promise<ProbeMessage | null> {
  const waiting = new AbortController()
  let first: ProbeMessage | null = null
  const take = (message: ProbeMessage) => {
    call.pause()
    first = message
    waiting.abort()
  }
  const giveUp = () => waiting.abort()
  call.on('data', take).on('end', giveUp).on('cancelled', giveUp)
  await sleep(patienceMs, waiting.signal)
  call.pause()
  call.off('data', take).off('end', giveUp).off('cancelled', giveUp)
  return first
}

/** True when the transport took the message, false when the stream broke or the patience ran out. */
async function write(call: Call, message: FleetMessage, patienceMs: number): Promise<boolean> {
  if (call.writableEnded || call.destroyed) return false
  const waiting = new AbortController()
  let isTaken = false
  call.write(message, (error: unknown) => {
    isTaken = !error
    waiting.abort()
  })
  await sleep(patienceMs, waiting.signal)
  return isTaken
}
