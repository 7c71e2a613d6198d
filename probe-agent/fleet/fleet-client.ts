import { type ClientDuplexStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  FleetClient,
  type FleetMessage,
  type Heartbeat,
  type Hello,
  type ProbeMessage,
  type Welcome,
} from '../../proto/gen/probe/v1/fleet.ts'
import type { Log } from '../../shared/process/log.ts'
import type { RemoteClock } from '../../shared/process/remote-clock.ts'
import type { CancelTimer, Machine } from '../clock.ts'
import type { ProbeCredential } from './credential.ts'
import { computeReconnectDelayMs } from './reconnect-delay.ts'

export type FleetMessageBody = NonNullable<FleetMessage['body']>

/** PEM files. `ca` null: the system's authorities. `cert` and `key`: when the control plane requires a client certificate. */
export type FleetTls = { ca: Buffer | null; cert: Buffer | null; key: Buffer | null }

type FleetConnectionOptions = {
  /** host:port */
  url: string
  /** null: plain text */
  tls: FleetTls | null
  credential: ProbeCredential
  machine: Machine
  clock: RemoteClock
  hello: () => Hello
  load: () => Omit<Heartbeat, 'seq'>
  onWelcome: (welcome: Welcome) => void
  /** called for every message except welcome and heartbeat ack */
  onMessage: (body: FleetMessageBody) => void
  /** called after each sample of the control plane's clock, with the change of its offset in ms */
  onClock: (movedMs: number) => void
  log: Log
}

type FleetConnection = {
  /** Sends a message. Without a connection the message is lost. */
  send: (body: NonNullable<ProbeMessage['body']>) => void
  isOpen: () => boolean
  /** True from the welcome until the stream ends or is silent for too long. */
  isLinked: () => boolean
  /** Ends the stream after everything sent has arrived. */
  close: () => Promise<void>
}

type Stream = ClientDuplexStream<ProbeMessage, FleetMessage>
type Session = {
  client: FleetClient
  stream: Stream
  /** unanswered heartbeats: sequence number -> time sent, monotonic */
  sentMs: Map<number, number>
  seq: number
  deadAfterMs: number
  isWelcomed: boolean
  stopWaiting: CancelTimer
  stopBeating: CancelTimer
}

/** Maximum silence until the welcome message specifies one. */
const WELCOME_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 500
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

/** Keeps a stream to the control plane open: reconnects forever, closes silent streams (docs/design/probes.md#connection). */
export function connectFleet(parts: FleetConnectionOptions): FleetConnection {
  const { url, tls, credential, machine, clock, log } = parts
  let session: Session | null = null
  let failures = 0
  let isClosed = false
  let stopReconnecting: CancelTimer = () => {}

  function open(): void {
    const client = new FleetClient(
      url,
      tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure(),
      {
        'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
        // Otherwise grpc-js shares connections and applies its own back-off.
        'grpc.use_local_subchannel_pool': 1,
      },
    )
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${credential.secret}`)
    if (credential.token !== null) metadata.set('enrolment-token', credential.token)
    const stream = client.connect(metadata)
    const opened: Session = {
      client,
      stream,
      sentMs: new Map(),
      seq: 0,
      deadAfterMs: WELCOME_TIMEOUT_MS,
      isWelcomed: false,
      stopWaiting: () => {},
      stopBeating: () => {},
    }
    session = opened
    expectMessage(opened)
    stream.on('data', (message: FleetMessage) => receive(opened, message))
    stream.on('error', (error: ServiceError) => end(opened, error.details || error.message, error.code))
    stream.on('end', () => end(opened, 'the control plane ended the stream'))
    stream.write({ body: { $case: 'hello', value: parts.hello() } })
  }

  function expectMessage(of: Session): void {
    of.stopWaiting()
    of.stopWaiting = machine.after(of.deadAfterMs, () => end(of, 'the control plane does not respond'))
  }

  function receive(from: Session, { body }: FleetMessage): void {
    if (from !== session || !body) return
    expectMessage(from)
    if (body.$case === 'welcome') welcome(from, body.value)
    else if (body.$case === 'heartbeatAck') {
      const sentMs = from.sentMs.get(body.value.seq)
      if (sentMs === undefined) return
      from.sentMs.delete(body.value.seq)
      parts.onClock(clock.learn(sentMs, machine.monotonicMs(), body.value.nowMs))
    } else parts.onMessage(body)
  }

  function welcome(from: Session, message: Welcome): void {
    failures = 0
    from.deadAfterMs = message.deadAfterMs
    from.isWelcomed = true
    expectMessage(from)
    parts.onWelcome(message)
    heartbeat(from)
    from.stopBeating = machine.every(message.heartbeatIntervalMs, () => heartbeat(from))
  }

  function heartbeat(to: Session): void {
    const seq = ++to.seq
    const load = parts.load()
    to.sentMs.set(seq, machine.monotonicMs())
    to.stream.write({ body: { $case: 'heartbeat', value: { seq, ...load } } })
  }

  function end(ended: Session, reason: string, code?: number): void {
    if (ended !== session) return
    release()
    if (isClosed) return
    failures++
    const isRefused = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED
    const retryInMs = Math.round(computeReconnectDelayMs(failures, isRefused, machine.random()))
    const details = { event: 'disconnected', reason, retry_in_ms: retryInMs, url }
    if (isRefused)
      log.error(
        details,
        'the control plane refuses this probe: PROBE_TOKEN is invalid, already used, revoked, or of another installation',
      )
    else log.warn(details, 'disconnected from the control plane; checks continue')
    stopReconnecting = machine.after(retryInMs, open)
  }

  function release(): void {
    if (!session) return
    const { client, stream, stopWaiting, stopBeating } = session
    session = null
    stopWaiting()
    stopBeating()
    stream.cancel()
    client.close()
  }

  open()
  return {
    send: body => void session?.stream.write({ body }),
    isOpen: () => session !== null,
    isLinked: () => session?.isWelcomed ?? false,
    async close() {
      isClosed = true
      stopReconnecting()
      session?.stream.end()
      // The control plane ends the stream after it has read the last messages.
      for (let waited = 0; session && waited < CLOSE_TIMEOUT_MS; waited += 20) await machine.pause(20)
      release()
    },
  }
}
