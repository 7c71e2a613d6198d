import { jetstream } from '@nats-io/jetstream'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { createReconnectPace } from '../../shared/nats/reconnect-pace.ts'
import type { Log } from '../../shared/process/log.ts'
import { machine } from '../clock.ts'

/** Where JetStream is and what lets us in. */
export type StreamCredentials = {
  url: string
  /** text of a creds file; empty: none needed */
  credentials: string
  /** where acks come in */
  inboxPrefix: string
}

/** The way to JetStream. It reconnects for ever; while it is away, `publish` fails at once. */
export type ResultStream = {
  /** Resolves when JetStream has stored the message. The same id within two minutes is stored once. */
  publish: (subject: string, bytes: Uint8Array, id: string) => Promise<void>
  /** Another address or other credentials from now on; nothing happens when all is the same. */
  use: (access: StreamCredentials) => void
  isConnected: () => boolean
  close: () => Promise<void>
}

export type ResultStreamEvents = { onAway: () => void; onBack: () => void }

const ACK_TIMEOUT_MS = 5000
const RECONNECT_DELAY_MS = 500
const PING_INTERVAL_MS = 5000

export function createResultStream(name: string, log: Log, { onAway, onBack }: ResultStreamEvents): ResultStream {
  let access: StreamCredentials = { url: '', credentials: '', inboxPrefix: '' }
  let connection: NatsConnection | null = null
  let isConnected = false
  let generation = 0
  let retireOlder: () => void = () => {}

  async function open(mine: number): Promise<void> {
    const opened = await connect({
      servers: access.url,
      name,
      inboxPrefix: access.inboxPrefix,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: true,
      ...createReconnectPace(() => RECONNECT_DELAY_MS * (1 + machine.random())),
      pingInterval: PING_INTERVAL_MS,
      maxPingOut: 2,
      ignoreClusterUpdates: true,
      // Refused twice in a row, as by a server that starts with the wrong keys, the client would give up for good.
      ignoreAuthErrorAbort: true,
      // Asked at each reconnect, so that renewed credentials are the ones used.
      authenticator: nonce =>
        access.credentials ? credsAuthenticator(new TextEncoder().encode(access.credentials))(nonce) : undefined,
    })
    if (mine !== generation) {
      await opened.close()
      return
    }
    retireOlder()
    if (connection) retireOlder = closeLater(connection)
    connection = opened
    void watch(opened)
    changed(true)
  }

  async function watch(watched: NatsConnection): Promise<void> {
    for await (const status of watched.status()) {
      if (watched !== connection) return
      if (status.type === 'disconnect') changed(false)
      if (status.type === 'reconnect') changed(true)
      if (status.type === 'error') log.warn({ err: status.error }, 'the NATS server refuses something')
    }
  }

  function changed(connected: boolean): void {
    if (connected === isConnected) return
    isConnected = connected
    if (connected) log.info({ event: 'nats_connected' }, 'results go to JetStream')
    else log.warn({ event: 'nats_away' }, 'NATS is away; results are spooled')
    if (connected) onBack()
    else onAway()
  }

  return {
    isConnected: () => isConnected,
    async close() {
      generation++
      retireOlder()
      const closing = connection
      connection = null
      await closing?.close()
    },
    async publish(subject, bytes, id) {
      if (!connection || !isConnected) throw new Error('NATS is away')
      await jetstream(connection).publish(subject, bytes, { msgID: id, timeout: ACK_TIMEOUT_MS })
    },
    use(next) {
      const isSamePlace = next.url === access.url && next.inboxPrefix === access.inboxPrefix
      const isSame = isSamePlace && next.credentials === access.credentials
      access = next
      // a connection that is on its way asks for the newest credentials by itself
      if (isSame || (isSamePlace && !isConnected)) return
      const mine = ++generation
      open(mine).catch(error => log.error({ err: error, url: next.url }, 'the address of NATS cannot be used'))
    },
  }
}

/** Acks of what was sent on it may still be on their way. Returns how to close it at once. */
function closeLater(older: NatsConnection): () => void {
  const close = () => void older.close()
  const cancel = machine.after(ACK_TIMEOUT_MS, close)
  return () => {
    cancel()
    close()
  }
}
