import pg from 'pg'
import type { Log } from '../../../../shared/process/log.ts'
import { monotonicMs, withTimeout } from '../time/clock.ts'
import { sleepCoalesced } from '../time/coalesced-timers.ts'
import { createStaleConnectionSignal, destroyConnection, type StaleConnectionSignal } from './dead-connections.ts'

type NotificationListener = { stop(): Promise<void> }

type ListenOptions = {
  /** how often the connection is tested, and how long it has for an answer */
  askEveryMs?: number
  answerMs?: number
  /** when other connections of the process turn out to be dead, this one reconnects without waiting */
  suspicion?: StaleConnectionSignal
}

const RECONNECT_DELAY_MS = 1_000
const CLOSE_TIMEOUT_MS = 1_000

/**
 * Calls `onNotify` for each NOTIFY on one of the channels, and once for each channel after a (re)connect, because
 * notifications sent meanwhile are lost. Reconnects after a second, also when a connection no longer answers.
 * See docs/design/loops.md#wake-ups.
 */
export function listenForNotifications(
  url: string,
  channels: string[],
  onNotify: (channel: string, payload: string) => void,
  log: Log,
  { askEveryMs = 10_000, answerMs = 5_000, suspicion = createStaleConnectionSignal() }: ListenOptions = {},
): NotificationListener {
  let stopped = false
  let client: pg.Client | null = null
  let reconnectTimer: NodeJS.Timeout | null = null
  let aliveMs = monotonicMs()

  const connect = async () => {
    const connection = new pg.Client({
      connectionString: url,
      application_name: 'picket-listen',
      keepAlive: true,
      keepAliveInitialDelayMillis: answerMs,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    })
    client = connection
    connection.on('error', error => log.warn({ err: error }, 'the listening connection to PostgreSQL broke'))
    const ended = new AbortController()
    connection.on('end', () => {
      ended.abort()
      if (!stopped) reconnectTimer = setTimeout(attempt, RECONNECT_DELAY_MS)
    })
    connection.on('notification', message => onNotify(message.channel, message.payload ?? ''))
    try {
      await connection.connect()
      for (const channel of channels) await connection.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      destroyConnection(connection, 'cannot LISTEN to PostgreSQL')
      throw error
    }
    aliveMs = monotonicMs()
    for (const channel of channels) onNotify(channel, '')
    void keepAliveUntil(ended.signal, connection, askEveryMs)
  }
  const attempt = () => {
    connect().catch(error => {
      if (!stopped) log.warn({ err: error }, 'cannot LISTEN to PostgreSQL yet')
    })
  }
  const removeListener = suspicion.onRaise(() => {
    if (client && aliveMs < suspicion.staleBeforeMs())
      destroyConnection(client, 'the listening connection may be dead, as others are')
  })
  attempt()
  return {
    async stop() {
      stopped = true
      removeListener()
      if (reconnectTimer) clearTimeout(reconnectTimer)
      if (client) await withTimeout(client.end(), CLOSE_TIMEOUT_MS).catch(() => {})
      if (client) destroyConnection(client, 'stopped')
    },
  }
}

/** Tests the connection until `ended`; one that does not answer in time is destroyed. */
async function keepAliveUntil(ended: AbortSignal, client: pg.Client, askEveryMs: number): Promise<void> {
  for (;;) {
    await sleepCoalesced(askEveryMs, ended)
    if (ended.aborted) return
    const query = client.query('SELECT 1')
    await query.catch(() => destroyConnection(client, 'the listening connection to PostgreSQL does not answer'))
  }
}
