import pg from 'pg'
import type { Log } from '../../../../shared/process/log.ts'
import { monotonicMs, withTimeout } from '../time/clock.ts'
import { sleepCoalesced } from '../time/coalesced-timers.ts'
import { createStaleConnectionSignal, destroyConnection, type StaleConnectionSignal } from './dead-connections.ts'

export type NotificationListener = { stop(): Promise<void> }

export type ListenOptions = {
  /** how often the connection is asked for a sign of life, and how long it has for an answer */
  askEveryMs?: number
  answerMs?: number
  /** When other connections of the process turn out to be dead, this one is not waited for. */
  suspicion?: StaleConnectionSignal
}

const RECONNECT_DELAY_MS = 1_000
const CLOSE_TIMEOUT_MS = 1_000

/**
 * Calls `onNotify` for each NOTIFY on one of the channels, and once after each (re)connect, because what was sent
 * meanwhile is gone. Reconnects by itself, a second apart, also from a connection that gives no answer any more.
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
  let again: NodeJS.Timeout | null = null
  let aliveMs = monotonicMs()

  const connect = async () => {
    const mine = new pg.Client({
      connectionString: url,
      application_name: 'picket-listen',
      keepAlive: true,
      keepAliveInitialDelayMillis: answerMs,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    })
    client = mine
    mine.on('error', error => log.warn({ err: error }, 'the listening connection to PostgreSQL broke'))
    const ended = new AbortController()
    mine.on('end', () => {
      ended.abort()
      if (!stopped) again = setTimeout(attempt, RECONNECT_DELAY_MS)
    })
    mine.on('notification', message => onNotify(message.channel, message.payload ?? ''))
    try {
      await mine.connect()
      for (const channel of channels) await mine.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      destroyConnection(mine, 'PostgreSQL cannot be listened to')
      throw error
    }
    aliveMs = monotonicMs()
    for (const channel of channels) onNotify(channel, '')
    void keepAliveUntil(ended.signal, mine, askEveryMs)
  }
  const attempt = () => {
    connect().catch(error => {
      if (!stopped) log.warn({ err: error }, 'cannot listen to PostgreSQL yet')
    })
  }
  const unhear = suspicion.onRaise(() => {
    if (client && aliveMs < suspicion.staleBeforeMs())
      destroyConnection(client, 'the listening connection may be dead as others are')
  })
  attempt()
  return {
    async stop() {
      stopped = true
      unhear()
      if (again) clearTimeout(again)
      if (client) await withTimeout(client.end(), CLOSE_TIMEOUT_MS).catch(() => {})
      if (client) destroyConnection(client, 'stopped')
    },
  }
}

/** A connection that gives no sign of life in time is destroyed. */
async function keepAliveUntil(ended: AbortSignal, client: pg.Client, askEveryMs: number): Promise<void> {
  for (;;) {
    await sleepCoalesced(askEveryMs, ended)
    if (ended.aborted) return
    const query = client.query('SELECT 1')
    await query.catch(() => destroyConnection(client, 'the listening connection to PostgreSQL does not answer'))
  }
}
