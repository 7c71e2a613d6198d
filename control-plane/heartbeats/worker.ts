import { nowMs } from '../platform/clock.ts'
import { startDueLoop } from '../platform/due-loop.ts'
import { CRITICAL, type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { givePingTokens, type HeartbeatTools, judgeOverdue, sayListening } from './actions.ts'
import { firstDueInMs } from './store.ts'

/** Between two looks for the next heartbeat that will be due */
const LOOK_EVERY_MS = 5_000
/** After heartbeats were judged, and while another process judges them or a silence excuses them */
const AGAIN_MS = 1_000
/** With the 5 s after which it counts as a silence: two of these may fail. */
const LISTENING_EVERY_MS = 1_500
const TOKENS_EVERY_MS = 60_000
const AT_ONCE = 500

/**
 * Finds a heartbeat that is overdue when its time has come. Several processes may run it; each monitor is judged by one of
 * them. A ping sets that time at least 30 s ahead, so no process has to wake this. One that was kept while PostgreSQL was
 * away may set a time that is near or past: it is found at the next look.
 */
export function startOverdueWorker({ db, publicUrl, ...tools }: LoopTools & HeartbeatTools): Loop {
  const context = { db, publicUrl, log: tools.log }
  const round = async (signal: AbortSignal) => {
    const dueInMs = await firstDueInMs(db)
    if (dueInMs === null) return null
    if (dueInMs > 0) return new Date(nowMs() + dueInMs)
    while (!signal.aborted && (await judgeOverdue(context, AT_ONCE)) === AT_ONCE);
    return new Date(nowMs() + AGAIN_MS)
  }
  return startDueLoop('heartbeats-overdue', LOOK_EVERY_MS, tools, round, CRITICAL)
}

/** Beside the ping URLs, in every process that serves them. */
export function startListening({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop(
    'heartbeats-listening',
    LISTENING_EVERY_MS,
    tools,
    async () => {
      const heard = await sayListening(db)
      if (heard) tools.log.warn({ event: 'pings_not_taken', ...heard }, 'no pings were taken for a while')
    },
    CRITICAL,
  )
}

export function startPingTokenWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: Secrets }): Loop {
  return startLoop('heartbeats-ping-tokens', TOKENS_EVERY_MS, tools, async signal => {
    while (!signal.aborted && (await givePingTokens(db, secrets)) > 0);
  })
}
