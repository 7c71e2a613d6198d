import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { monotonicMs, nowMs } from '../../foundation/platform/time/clock.ts'
import { CRITICAL, type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { startScheduledLoop } from '../../foundation/platform/time/scheduled-loop.ts'
import { assignPingTokens, evaluateOverdue, type HeartbeatTools, recordIntakeAlive } from './actions.ts'
import { findFirstDueInMs } from './store.ts'

/** Time between two searches for the next heartbeat that will be due. */
const POLL_INTERVAL_MS = 5_000
/** Pause after an evaluation, and while another process evaluates, or no process has accepted pings. */
const RETRY_DELAY_MS = 1_000
/** A gap counts after 5 s, so two of these records may fail. */
const ALIVE_INTERVAL_MS = 1_500
/** The same while no heartbeat has a deadline: there is no ping to wait for. */
const IDLE_ALIVE_INTERVAL_MS = 10_000
const TOKEN_INTERVAL_MS = 60_000
const BATCH_SIZE = 500

/**
 * Finds overdue heartbeats when they are due. Several processes may run it; one of them evaluates each monitor. A ping
 * sets the deadline at least 30 s ahead, so no process has to wake the worker. A queued ping may set an earlier
 * deadline, which the next search finds.
 */
export function startOverdueWorker({ db, publicUrl, ...tools }: LoopTools & HeartbeatTools): Loop {
  const context = { db, publicUrl, log: tools.log }
  const skipped = new Map<string, number>()
  const round = async (signal: AbortSignal) => {
    const dueInMs = await findFirstDueInMs(db)
    if (dueInMs === null) return null
    if (dueInMs > 0) return new Date(nowMs() + dueInMs)
    while (!signal.aborted && (await evaluateOverdue(context, BATCH_SIZE, skipped)) === BATCH_SIZE);
    return new Date(nowMs() + RETRY_DELAY_MS)
  }
  return startScheduledLoop('heartbeats-overdue', POLL_INTERVAL_MS, tools, round, CRITICAL)
}

/** Runs in every process that serves ping URLs. Call `wake` on NOTIFY "heartbeats". */
export function startIntakeAliveWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  let isIdle = false
  let isWoken = false
  let dueMs = Number.NEGATIVE_INFINITY
  const round = async () => {
    const startedMs = monotonicMs()
    if (startedMs < dueMs && !isWoken) return
    isWoken = false
    // a record that fails is tried again in the next round
    dueMs = Number.NEGATIVE_INFINITY
    const { hasDeadlines, outage } = await recordIntakeAlive(db)
    // the first deadline after an idle time looks like a gap in the records
    const isGap = outage !== null && (outage.excused > 0 || !isIdle)
    isIdle = !hasDeadlines
    if (isIdle) dueMs = startedMs + IDLE_ALIVE_INTERVAL_MS
    if (isGap) tools.log.warn({ event: 'pings_not_taken', ...outage }, 'no process accepted pings for some time')
  }
  const loop = startLoop('heartbeats-listening', ALIVE_INTERVAL_MS, tools, round, CRITICAL)
  return {
    stop: loop.stop,
    wake() {
      isWoken = true
      loop.wake()
    },
  }
}

export function startPingTokenWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startLoop('heartbeats-ping-tokens', TOKEN_INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await assignPingTokens(db, secrets)) > 0);
  })
}
