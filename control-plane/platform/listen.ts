import pg from 'pg'
import type { Log } from '../../shared/log.ts'
import { inTime, sleep } from './clock.ts'
import { breakOff } from './connection-watch.ts'

export type Listener = { stop(): Promise<void> }

/** How often the listening connection is asked for a sign of life, and how long it has for an answer. */
export type ListenTiming = { askEveryMs: number; answerMs: number }

const TIMING: ListenTiming = { askEveryMs: 10_000, answerMs: 5_000 }
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
  timing = TIMING,
): Listener {
  let stopped = false
  let client: pg.Client | null = null
  let again: NodeJS.Timeout | null = null

  const connect = async () => {
    const mine = new pg.Client({
      connectionString: url,
      application_name: 'picket-listen',
      keepAlive: true,
      keepAliveInitialDelayMillis: timing.answerMs,
      connectionTimeoutMillis: timing.answerMs,
      query_timeout: timing.answerMs,
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
    for (const channel of channels) onNotify(channel, '')
    void askUntil(ended.signal, mine, timing)
  }
  const attempt = () => {
    connect().catch(error => {
      if (!stopped) log.warn({ err: error }, 'cannot listen to PostgreSQL yet')
    })
  }
  attempt()
  return {
    async stop() {
      stopped = true
      if (again) clearTimeout(again)
      if (client) await inTime(client.end(), GOODBYE_MS).catch(() => {})
      if (client) breakOff(client, 'stopped')
    },
  }
}

/** A connection that gives no sign of life in time is destroyed. */
async function askUntil(ended: AbortSignal, client: pg.Client, { askEveryMs }: ListenTiming): Promise<void> {
  for (;;) {
    await sleep(askEveryMs, ended)
    if (ended.aborted) return
    const query = client.query('SELECT 1')
    await query.catch(() => breakOff(client, 'the listening connection to PostgreSQL does not answer'))
  }
}
