import pg from 'pg'
import type { Log } from '../../shared/log.ts'
import { sleepToBeat } from './beat.ts'
import { inTime, monotonicMs } from './clock.ts'
import { breakOff, noSuspicion, type Suspicion } from './connection-watch.ts'

export type Listener = { stop(): Promise<void> }

export type ListenOptions = {
  /** how often the connection is asked for a sign of life, and how long it has for an answer */
  askEveryMs?: number
  answerMs?: number
  /** When other connections of the process turn out to be dead, this one is not waited for. */
  suspicion?: Suspicion
}

const AGAIN_MS = 1_000
const GOODBYE_MS = 1_000

/**
 * Calls `onNotify` for each NOTIFY on one of the channels, and once after each (re)connect, because what was sent
 * meanwhile is gone. Reconnects by itself, a second apart, also from a connection that gives no answer any more.
 */
export function listen(
  url: string,
  channels: string[],
  onNotify: (channel: string, payload: string) => void,
  log: Log,
  { askEveryMs = 10_000, answerMs = 5_000, suspicion = noSuspicion() }: ListenOptions = {},
): Listener {
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
      if (!stopped) again = setTimeout(attempt, AGAIN_MS)
    })
    mine.on('notification', message => onNotify(message.channel, message.payload ?? ''))
    try {
      await mine.connect()
      for (const channel of channels) await mine.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      breakOff(mine, 'PostgreSQL cannot be listened to')
      throw error
    }
    aliveMs = monotonicMs()
    for (const channel of channels) onNotify(channel, '')
    void askUntil(ended.signal, mine, askEveryMs)
  }
  const attempt = () => {
    connect().catch(error => {
      if (!stopped) log.warn({ err: error }, 'cannot listen to PostgreSQL yet')
    })
  }
  const unhear = suspicion.onRaise(() => {
    if (client && aliveMs < suspicion.beforeMs()) breakOff(client, 'the listening connection may be dead as others are')
  })
  attempt()
  return {
    async stop() {
      stopped = true
      unhear()
      if (again) clearTimeout(again)
      if (client) await inTime(client.end(), GOODBYE_MS).catch(() => {})
      if (client) breakOff(client, 'stopped')
    },
  }
}

/** A connection that gives no sign of life in time is destroyed. */
async function askUntil(ended: AbortSignal, client: pg.Client, askEveryMs: number): Promise<void> {
  for (;;) {
    await sleepToBeat(askEveryMs, ended)
    if (ended.aborted) return
    const query = client.query('SELECT 1')
    await query.catch(() => breakOff(client, 'the listening connection to PostgreSQL does not answer'))
  }
}
