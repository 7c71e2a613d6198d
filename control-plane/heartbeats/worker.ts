import { CRITICAL, type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { givePingTokens, type HeartbeatTools, judgeOverdue, sayListening } from './actions.ts'

const EVERY_MS = 1_000
/** With the 5 s after which it counts as a silence: two of these may fail. */
const LISTENING_EVERY_MS = 1_500
const TOKENS_EVERY_MS = 60_000
const AT_ONCE = 500

/** Finds what is overdue within a second. Several processes may run it: each monitor is judged by one of them. */
export function startOverdueWorker({ db, publicUrl, ...tools }: LoopTools & HeartbeatTools): Loop {
  return startLoop(
    'heartbeats-overdue',
    EVERY_MS,
    tools,
    async signal => {
      const context = { db, publicUrl, log: tools.log }
      while (!signal.aborted && (await judgeOverdue(context, AT_ONCE)) === AT_ONCE);
    },
    CRITICAL,
  )
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
