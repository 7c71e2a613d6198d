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

/** PEM files. `ca` null: those of the system; `cert` and `key` when the control plane asks for a certificate. */
export type FleetTls = { ca: Buffer | null; cert: Buffer | null; key: Buffer | null }

export type FleetConnectionOptions = {
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
  /** everything but the welcome and the acks */
  onMessage: (body: FleetMessageBody) => void
  /** the control plane's clock was learned, and moved by so much */
  onClock: (movedMs: number) => void
  log: Log
}

export type FleetConnection = {
  /** Sends when the link is there; a message without a link is lost, as it would be on the way. */
  send: (body: NonNullable<ProbeMessage['body']>) => void
  isOpen: () => boolean
  /** The control plane has welcomed this probe and is not silent. */
  isLinked: () => boolean
  /** Ends the stream when what was sent has arrived. */
  close: () => Promise<void>
}

type Stream = ClientDuplexStream<ProbeMessage, FleetMessage>
type Session = {
  client: FleetClient
  stream: Stream
  /** heartbeats on their way: when each was sent, by the monotonic clock */
  sentMs: Map<number, number>
  seq: number
  deadAfterMs: number
  isWelcomed: boolean
  stopWaiting: CancelTimer
  stopBeating: CancelTimer
}

/** Until the welcome has said how long the link may be silent (decisions 11.1). */
const WELCOME_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 500
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

/** The stream to the control plane: opened again for ever, given up when silent, timed by heartbeats (decisions 11.1). */
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
        // The library would share connections and wait by itself between attempts; the back-off is ours.
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
    of.stopWaiting = machine.after(of.deadAfterMs, () => end(of, 'the control plane is silent'))
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
      log.error(details, 'the control plane refuses this probe: PROBE_TOKEN is wrong, used, revoked or another fleet’s')
    else log.warn(details, 'no link to the control plane; checks go on')
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
      // What was written last is on its way; the control plane ends the stream in turn.
      for (let waited = 0; session && waited < CLOSE_TIMEOUT_MS; waited += 20) await machine.pause(20)
      release()
    },
  }
}
