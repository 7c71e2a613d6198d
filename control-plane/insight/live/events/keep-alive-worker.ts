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
    for (const stream of registry.list()) {
      if (signal.aborted) return
      if (monotonicMs() - stream.checkedMs >= CHECK_AFTER_MS) await checkStream(stream)
    }
  })
}

async function checkStream(stream: EventStream): Promise<void> {
  stream.checkedMs = monotonicMs()
  // while PostgreSQL is unreachable nothing is sent but heartbeats
  const isAllowed = await stream.isAllowed().catch(() => true)
  if (!isAllowed) stream.end('unauthorized')
  else if (stream.position) stream.write(formatHeartbeat(formatPosition(stream.position, stream.projectId)))
}
