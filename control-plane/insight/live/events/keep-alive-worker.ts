import { limitConcurrency } from '../../../foundation/platform/concurrency/concurrency-limit.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { formatPosition } from '../position.ts'
import { formatHeartbeat } from './event-text.ts'
import type { EventStream, StreamRegistry } from './stream-registry.ts'

const INTERVAL_MS = 5_000
/** Each stream gets a heartbeat, and its caller is checked, after this time, by a later round. */
const DUE_AFTER_MS = 10_000
/** Callers that are checked at the same time. The pool of the API has more connections than this. */
const MAX_CHECKS = 5

/** Sends a heartbeat to each stream about every 15 s, and ends those whose caller has lost access. */
export function startKeepAlive({ registry, ...tools }: LoopTools & { registry: StreamRegistry }): {
  stop(): Promise<void>
} {
  // in loops of their own: checks wait for PostgreSQL, and clients take a stream without heartbeats for a dead one
  const heartbeats = startLoop('event-streams', INTERVAL_MS, tools, async () => {
    const dueMs = monotonicMs() - DUE_AFTER_MS
    for (const stream of registry.list()) if (stream.heartbeatMs <= dueMs) sendHeartbeat(stream)
  })
  const checks = startLoop('event-stream-access', INTERVAL_MS, tools, signal => checkCallers(registry, signal))
  return {
    async stop() {
      await Promise.all([heartbeats.stop(), checks.stop()])
    },
  }
}

function sendHeartbeat(stream: EventStream): void {
  stream.heartbeatMs = monotonicMs()
  const { position, projectId } = stream
  stream.write(formatHeartbeat(position ? formatPosition(position, projectId) : undefined))
}

/** Checks the callers of the streams that are due, the longest unchecked first, because the time of a round can end before. */
async function checkCallers(registry: StreamRegistry, signal: AbortSignal): Promise<void> {
  const dueMs = monotonicMs() - DUE_AFTER_MS
  const due = registry.list().filter(({ checkedMs }) => checkedMs <= dueMs)
  const inTurn = limitConcurrency(MAX_CHECKS)
  const check = async (stream: EventStream) => {
    if (signal.aborted) return
    // while PostgreSQL is unreachable nothing is sent but heartbeats
    const isAllowed = await stream.isAllowed().catch(() => true)
    stream.checkedMs = monotonicMs()
    if (!isAllowed) stream.end('unauthorized')
  }
  await Promise.all(due.toSorted((a, b) => a.checkedMs - b.checkedMs).map(stream => inTurn(() => check(stream))))
}
