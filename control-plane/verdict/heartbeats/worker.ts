import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { assignPingTokens, evaluateOverdue, type HeartbeatTools, recordIntakeAlive } from './actions.ts'
import { findFirstDueInMs } from './store.ts'

/** Between two looks for the next heartbeat that will be due */
const POLL_INTERVAL_MS = 5_000
/** After heartbeats were judged, and while another process judges them or a silence excuses them */
const RETRY_DELAY_MS = 1_000
/** With the 5 s after which it counts as a silence: two of these may fail. */
const ALIVE_INTERVAL_MS = 1_500
const TOKEN_INTERVAL_MS = 60_000
const BATCH_SIZE = 500

/**
 * Finds a heartbeat that is overdue when its time has come. Several processes may run it; each monitor is judged by one of
 * them. A ping sets that time at least 30 s ahead, so no process has to wake this. One that was kept while PostgreSQL was
 * away may set a time that is near or past: it is found at the next look.
 */
export function startOverdueWorker({ db, publicUrl, ...tools }: LoopTools & HeartbeatTools): Loop {
  const context = { db, publicUrl, log: tools.log }
  const round = async (signal: AbortSignal) => {
    const dueInMs = await findFirstDueInMs(db)
    if (dueInMs === null) return null
    if (dueInMs > 0) return new Date(nowMs() + dueInMs)
    while (!signal.aborted && (await evaluateOverdue(context, BATCH_SIZE)) === BATCH_SIZE);
    return new Date(nowMs() + RETRY_DELAY_MS)
  }
  return startScheduledLoop('heartbeats-overdue', POLL_INTERVAL_MS, tools, round, CRITICAL)
}

/** Beside the ping URLs, in every process that serves them. */
export function startIntakeAliveWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop(
    'heartbeats-listening',
    ALIVE_INTERVAL_MS,
    tools,
    async () => {
      const heard = await recordIntakeAlive(db)
      if (heard) tools.log.warn({ event: 'pings_not_taken', ...heard }, 'no pings were taken for a while')
    },
    CRITICAL,
  )
}

export function startPingTokenWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startLoop('heartbeats-ping-tokens', TOKEN_INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await assignPingTokens(db, secrets)) > 0);
  })
}
