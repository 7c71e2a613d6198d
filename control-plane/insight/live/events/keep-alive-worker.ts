import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { formatPosition } from '../position.ts'
import { formatHeartbeat } from './event-text.ts'
import type { EventStream, StreamRegistry } from './stream-registry.ts'

const INTERVAL_MS = 5_000
/** Each stream is checked after this time, by a later round. */
const CHECK_AFTER_MS = 10_000

/** Sends a heartbeat to each stream about every 15 s, and ends those whose caller has lost access. */
export function startKeepAlive({ registry, ...tools }: LoopTools & { registry: StreamRegistry }): Loop {
  return startLoop('event-streams', INTERVAL_MS, tools, async signal => {
    const due = registry.list().filter(({ checkedMs }) => monotonicMs() - checkedMs >= CHECK_AFTER_MS)
    // first, because checks wait for PostgreSQL, and clients take a stream without heartbeats for a dead one
    for (const stream of due) sendHeartbeat(stream)
    for (const stream of due) {
      if (signal.aborted) return
      // while PostgreSQL is unreachable nothing is sent but heartbeats
      const isAllowed = await stream.isAllowed().catch(() => true)
      if (!isAllowed) stream.end('unauthorized')
    }
  })
}

function sendHeartbeat(stream: EventStream): void {
  stream.checkedMs = monotonicMs()
  const { position, projectId } = stream
  stream.write(formatHeartbeat(position ? formatPosition(position, projectId) : undefined))
}
