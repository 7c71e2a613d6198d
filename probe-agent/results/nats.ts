import { jetstream } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { createLoginOfCredentials } from '../../shared/nats/login.ts'
import { createReconnectPace } from '../../shared/nats/reconnect-pace.ts'
import { clarifyNatsError, parseNatsServers } from '../../shared/nats/servers.ts'
import type { Log } from '../../shared/process/log.ts'
import { machine } from '../clock.ts'

/** The servers of JetStream, separated by commas, and the credentials for them. */
export type StreamCredentials = {
  url: string
  /** text of a creds file; empty: no authentication */
  credentials: string
  /** prefix of the subjects on which acks arrive */
  inboxPrefix: string
}

/** A connection to JetStream that reconnects forever. While disconnected, `publish` fails immediately. */
export type ResultStream = {
  /** Resolves when JetStream has stored the message. The same id within two minutes is stored once. */
  publish: (subject: string, bytes: Uint8Array, id: string) => Promise<void>
  /** Switches to another address or other credentials. Does nothing when they are unchanged. */
  use: (access: StreamCredentials) => void
  isConnected: () => boolean
  close: () => Promise<void>
}

type ResultStreamEvents = { onAway: () => void; onBack: () => void }

const ACK_TIMEOUT_MS = 5000
const RECONNECT_DELAY_MS = 500
const PING_INTERVAL_MS = 5000

export function createResultStream(name: string, log: Log, { onAway, onBack }: ResultStreamEvents): ResultStream {
  let access: StreamCredentials = { url: '', credentials: '', inboxPrefix: '' }
  let connection: NatsConnection | null = null
  let isConnected = false
  let generation = 0
  let closePrevious: () => void = () => {}

  async function open(mine: number): Promise<void> {
    const opened = await connectFirst({ name, log, access: () => access, isWanted: () => mine === generation })
    if (opened === null) return
    if (mine !== generation) {
      await opened.close()
      return
    }
    closePrevious()
    if (connection) closePrevious = closeLater(connection)
    connection = opened
    void followStatus(opened)
    setConnected(true)
  }

  async function followStatus(followed: NatsConnection): Promise<void> {
    for await (const status of followed.status()) {
      if (followed !== connection) return
      if (status.type === 'disconnect') setConnected(false)
      if (status.type === 'reconnect') setConnected(true)
      if (status.type === 'error') log.warn({ err: status.error }, 'the NATS server reports an error')
    }
  }

  function setConnected(connected: boolean): void {
    if (connected === isConnected) return
    isConnected = connected
    if (connected) log.info({ event: 'nats_connected' }, 'connected to NATS; results are published')
    else log.warn({ event: 'nats_away' }, 'disconnected from NATS; results are spooled')
    if (connected) onBack()
    else onAway()
  }

  return {
    isConnected: () => isConnected,
    async close() {
      generation++
      closePrevious()
      const closing = connection
      connection = null
      await closing?.close()
    },
    async publish(subject, bytes, id) {
      if (!connection || !isConnected) throw new Error('not connected to NATS')
      await jetstream(connection).publish(subject, bytes, { msgID: id, timeout: ACK_TIMEOUT_MS })
    },
    use(next) {
      const isSamePlace = next.url === access.url && next.inboxPrefix === access.inboxPrefix
      const isSame = isSamePlace && next.credentials === access.credentials
      access = next
      // a connection that is being opened uses the newest credentials
      if (isSame || (isSamePlace && !isConnected)) return
      const mine = ++generation
      open(mine).catch(error => log.error({ err: error }, 'cannot use a connection to NATS'))
    },
  }
}

type FirstConnection = { name: string; log: Log; access: () => StreamCredentials; isWanted: () => boolean }

/** Tries until a server accepts the connection, and logs each new reason. Null when it is no longer wanted. */
async function connectFirst({ name, log, access, isWanted }: FirstConnection): Promise<NatsConnection | null> {
  for (let reason = ''; isWanted(); await machine.pause(computePauseMs())) {
    try {
      return await connectOnce(name, access)
    } catch (error) {
      const err = clarifyNatsError(error) as Error
      if (err.message !== reason) log.warn({ event: 'nats_unreachable', err }, 'cannot connect to NATS')
      reason = err.message
    }
  }
  return null
}

const computePauseMs = () => RECONNECT_DELAY_MS * (1 + machine.random())

/** Tries each server once. Later, the connection reconnects by itself. */
async function connectOnce(name: string, access: () => StreamCredentials): Promise<NatsConnection> {
  return connect({
    ...parseNatsServers(access().url),
    name,
    inboxPrefix: access().inboxPrefix,
    maxReconnectAttempts: -1,
    ...createReconnectPace(computePauseMs),
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: 2,
    ignoreClusterUpdates: true,
    // By default the client gives up forever after two refused logins in a row.
    ignoreAuthErrorAbort: true,
    // Called at each reconnect, so that renewed credentials are used.
    authenticator: nonce => {
      const { credentials } = access()
      return credentials ? createLoginOfCredentials(credentials)(nonce) : undefined
    },
  })
}

/** Closes a replaced connection after outstanding acks had time to arrive. Returns a function that closes it immediately. */
function closeLater(older: NatsConnection): () => void {
  const close = () => void older.close()
  const cancel = machine.after(ACK_TIMEOUT_MS, close)
  return () => {
    cancel()
    close()
  }
}
