import { jetstream } from '@nats-io/jetstream'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import type { Log } from '../shared/log.ts'

/** The way to JetStream. It reconnects for ever; while it is away, `publish` fails at once. */
export type ResultStream = {
  /** Resolves when JetStream has stored the message. The same id within two minutes is stored once. */
  publish: (subject: string, bytes: Uint8Array, id: string) => Promise<void>
  /** Uses another address or other credentials from now on; nothing happens when both are the same. */
  use: (url: string, credentials: string) => void
  isConnected: () => boolean
  close: () => Promise<void>
}

export type ResultStreamEvents = { onAway: () => void; onBack: () => void }

const ACK_WITHIN_MS = 5000
const RECONNECT_AFTER_MS = 500
const PING_EVERY_MS = 5000

export function createResultStream(name: string, log: Log, { onAway, onBack }: ResultStreamEvents): ResultStream {
  let url = ''
  let credentials = ''
  let connection: NatsConnection | null = null
  let isConnected = false
  let generation = 0

  async function open(mine: number): Promise<void> {
    const opened = await connect({
      servers: url,
      name,
      maxReconnectAttempts: -1,
      waitOnFirstConnect: true,
      reconnectTimeWait: RECONNECT_AFTER_MS,
      pingInterval: PING_EVERY_MS,
      maxPingOut: 2,
      ignoreClusterUpdates: true,
      // Refused twice in a row, as by a server that starts with the wrong keys, the client would give up for good.
      ignoreAuthErrorAbort: true,
      // Asked at each reconnect, so that renewed credentials are the ones used.
      authenticator: nonce =>
        credentials ? credsAuthenticator(new TextEncoder().encode(credentials))(nonce) : undefined,
    })
    if (mine !== generation) {
      await opened.close()
      return
    }
    connection = opened
    void watch(opened, mine)
    changed(true)
  }

  async function watch(watched: NatsConnection, mine: number): Promise<void> {
    for await (const status of watched.status()) {
      if (mine !== generation) return
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

  async function close(): Promise<void> {
    generation++
    const closing = connection
    connection = null
    await closing?.close()
  }

  return {
    close,
    isConnected: () => isConnected,
    async publish(subject, bytes, id) {
      if (!connection || !isConnected) throw new Error('NATS is away')
      await jetstream(connection).publish(subject, bytes, { msgID: id, timeout: ACK_WITHIN_MS })
    },
    use(newUrl, newCredentials) {
      credentials = newCredentials
      if (newUrl === url) return
      url = newUrl
      void close().then(() => {
        changed(false)
        open(generation).catch(error => log.error({ err: error, url }, 'the address of NATS cannot be used'))
      })
    },
  }
}
