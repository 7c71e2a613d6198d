import { sha256 } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type HeartbeatTools, storePings } from '../../control-plane/verdict/heartbeats/actions.ts'
import type { PingArrival } from '../../control-plane/verdict/heartbeats/types.ts'
import { waitFor } from './wait.ts'

export const HEARTBEAT = { name: 'Backup', type: 'heartbeat', heartbeat_interval: 3_600, heartbeat_grace: 60 }

/** Sends a ping; `signal` follows the token, such as `/start` or `/3`. Returns status and text. */
export async function ping(url: string, signal = '', init: RequestInit = {}) {
  const answer = await fetch(`${url}${signal}`, init)
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}

/** A ping that arrives now, as `storePings` takes it. */
export const buildPingArrival = (token: string, kind: 'success' | 'fail' | 'log' = 'success'): PingArrival => ({
  id: newId(),
  tokenHash: sha256(token),
  signal: { kind, exitCode: null },
  body: null,
  receivedAtMs: Date.now(),
  isKept: false,
  isWithdrawn: false,
})

/** Stores pings like `storePings`; those of a monitor that is locked meanwhile, as soon as it is free. */
export async function storeWhenFree(tools: HeartbeatTools, arrivals: PingArrival[]): Promise<(boolean | Error)[]> {
  const answers = new Map<number, boolean | Error>()
  const storeRest = async () => {
    const rest = [...arrivals.keys()].filter(i => !answers.has(i))
    const given = await storePings(
      tools,
      rest.map(i => arrivals[i]!),
    )
    for (const [at, answer] of given.entries()) if (answer !== 'locked') answers.set(rest[at]!, answer)
    return answers.size === arrivals.length
  }
  if (!(await storeRest())) await waitFor(storeRest, { label: 'pings whose monitor is free' })
  return [...arrivals.keys()].map(i => answers.get(i)!)
}

/** Makes a heartbeat overdue, and lets it be evaluated, now instead of after its interval and grace. */
export const runOut = (db: Db, monitorId: string) =>
  execute(db, `UPDATE heartbeats SET due_at = now() - interval '10 s' WHERE monitor_id = ?`, [monitorId])

export async function readHeartbeat(db: Db, monitorId: string) {
  const [row] = await query<{ pings: number; run_started_at: Date | null; due_at: Date | null; last_ping_at: Date }>(
    db,
    'SELECT pings, run_started_at, due_at, last_ping_at FROM heartbeats WHERE monitor_id = ?',
    [monitorId],
  )
  return row ?? null
}

/** The rows of an outage: how many of each there are. */
export async function countOutageRows(db: Db, monitorId: string) {
  const [row] = await query<object>(
    db,
    `SELECT (SELECT count(*) FROM transitions WHERE monitor_id = :monitorId AND to_status = 'down') AS downs,
       (SELECT count(*) FROM transitions WHERE monitor_id = :monitorId AND to_status = 'up') AS ups,
       (SELECT count(*) FROM incidents WHERE cause_monitor_id = :monitorId) AS incidents,
       (SELECT count(*) FROM deliveries WHERE subject = 'monitor:' || CAST(:monitorId AS text)) AS deliveries`,
    { monitorId },
  )
  return row
}
