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

export type FleetConnection = {
  /** Sends a message. Without a connection the message is lost. */
  send: (body: NonNullable<ProbeMessage['body']>) => void
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

/** What the functions of the connection share. */
type ConnectionState = FleetConnectionOptions & {
  /** null: not connected */
  session: Session | null
  /** failed connections since the last welcome message */
  failures: number
  isClosed: boolean
  stopReconnecting: CancelTimer
}

/** Keeps a stream to the control plane open: reconnects forever, closes silent streams (docs/design/probes.md#connection). */
export function connectFleet(options: FleetConnectionOptions): FleetConnection {
  const connection: ConnectionState = {
    ...options,
    session: null,
    failures: 0,
    isClosed: false,
    stopReconnecting() {},
  }
  openSession(connection)
  return {
    send: body => void connection.session?.stream.write({ body }),
    isLinked: () => connection.session?.isWelcomed ?? false,
    close: () => close(connection),
  }
}

/** Opens a stream and sends the hello message. */
function openSession(connection: ConnectionState): void {
  const client = createClient(connection)
  const stream = client.connect(buildMetadata(connection.credential))
  const session: Session = {
    client,
    stream,
    sentMs: new Map(),
    seq: 0,
    deadAfterMs: WELCOME_TIMEOUT_MS,
    isWelcomed: false,
    stopWaiting() {},
    stopBeating() {},
  }
  connection.session = session
  expectMessage(connection, session)
  stream.on('data', (message: FleetMessage) => receive(connection, session, message))
  stream.on('error', (error: ServiceError) =>
    endSession(connection, session, error.details || error.message, error.code),
  )
  stream.on('end', () => endSession(connection, session, 'the control plane ended the stream'))
  stream.write({ body: { $case: 'hello', value: connection.hello() } })
}

function createClient({ url, tls }: ConnectionState): FleetClient {
  const access = tls ? credentials.createSsl(tls.ca, tls.key, tls.cert) : credentials.createInsecure()
  return new FleetClient(url, access, {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    // Otherwise grpc-js shares connections and applies its own back-off.
    'grpc.use_local_subchannel_pool': 1,
  })
}

function buildMetadata({ secret, token }: ProbeCredential): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${secret}`)
  if (token !== null) metadata.set('enrolment-token', token)
  return metadata
}

/** Ends the session when no message follows in time. */
function expectMessage(connection: ConnectionState, session: Session): void {
  session.stopWaiting()
  session.stopWaiting = connection.machine.after(session.deadAfterMs, () =>
    endSession(connection, session, 'the control plane does not respond'),
  )
}

function receive(connection: ConnectionState, session: Session, { body }: FleetMessage): void {
  const { clock, machine } = connection
  if (session !== connection.session || !body) return
  expectMessage(connection, session)
  if (body.$case === 'welcome') welcome(connection, session, body.value)
  else if (body.$case === 'heartbeatAck') {
    const sentMs = session.sentMs.get(body.value.seq)
    if (sentMs === undefined) return
    session.sentMs.delete(body.value.seq)
    connection.onClock(clock.learn(sentMs, machine.monotonicMs(), body.value.nowMs))
  } else connection.onMessage(body)
}

function welcome(connection: ConnectionState, session: Session, message: Welcome): void {
  connection.failures = 0
  session.deadAfterMs = message.deadAfterMs
  session.isWelcomed = true
  expectMessage(connection, session)
  connection.onWelcome(message)
  sendHeartbeat(connection, session)
  session.stopBeating = connection.machine.every(message.heartbeatIntervalMs, () => sendHeartbeat(connection, session))
}

function sendHeartbeat({ machine, load }: ConnectionState, session: Session): void {
  const seq = ++session.seq
  const currentLoad = load()
  session.sentMs.set(seq, machine.monotonicMs())
  session.stream.write({ body: { $case: 'heartbeat', value: { seq, ...currentLoad } } })
}

/** Releases the session if it is the current one, and reconnects after a delay. */
function endSession(connection: ConnectionState, session: Session, reason: string, code?: number): void {
  if (session !== connection.session) return
  release(connection)
  if (connection.isClosed) return
  connection.failures++
  const { machine, failures } = connection
  const isRefused = code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED
  const retryInMs = Math.round(computeReconnectDelayMs(failures, isRefused, machine.random()))
  logDisconnect(connection, reason, isRefused, retryInMs)
  connection.stopReconnecting = machine.after(retryInMs, () => openSession(connection))
}

function logDisconnect({ log, url }: ConnectionState, reason: string, isRefused: boolean, retryInMs: number): void {
  const details = { event: 'disconnected', reason, retry_in_ms: retryInMs, url }
  if (isRefused)
    log.error(
      details,
      'the control plane refuses this probe; see reason. Set PROBE_TOKEN to a new token (admin command probe-token create)',
    )
  else log.warn(details, 'disconnected from the control plane; checks continue')
}

/** Closes the current session. */
function release(connection: ConnectionState): void {
  if (!connection.session) return
  const { client, stream, stopWaiting, stopBeating } = connection.session
  connection.session = null
  stopWaiting()
  stopBeating()
  stream.cancel()
  client.close()
}

async function close(connection: ConnectionState): Promise<void> {
  connection.isClosed = true
  connection.stopReconnecting()
  connection.session?.stream.end()
  // The control plane ends the stream after it has read the last messages.
  for (let waited = 0; connection.session && waited < CLOSE_TIMEOUT_MS; waited += 20) await connection.machine.pause(20)
  release(connection)
}
