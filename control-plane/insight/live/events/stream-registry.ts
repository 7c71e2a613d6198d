import { createKeyCounter } from '../../../foundation/platform/concurrency/key-counter.ts'
import { rateLimited, tooBusy } from '../../../foundation/web/server/errors.ts'
import type { ClientPosition } from '../position.ts'
import type { RESET_REASONS } from './event-schemas.ts'

const MAX_STREAMS_PER_KEY = 10
const MAX_STREAMS_PER_PROJECT = 100
const MAX_STREAMS = 1_000
const RETRY_AFTER_S = 10

/** Why a stream ended. `slow`: its reader did not keep up. */
export type StreamEnd = 'client' | 'slow' | 'unauthorized' | 'stopping'

/** An open connection to `GET /events`. The worker moves `position` and `version`. */
export type EventStream = {
  projectId: string
  keyId: string
  /** what the client has seen; null: it begins now */
  position: ClientPosition | null
  /** rows of the board with a greater version are new to it */
  version: number
  /** the first event that it still has to receive */
  greeting: { resumed: boolean } | { reason: (typeof RESET_REASONS)[number] } | null
  /** monotonic time of the last check of the caller */
  checkedMs: number
  /** monotonic time of the last heartbeat */
  heartbeatMs: number
  write(text: string): void
  end(why: StreamEnd): void
  /** Whether the caller may still read. Throws while that cannot be learned. */
  isAllowed(): Promise<boolean>
}

export type StreamRegistry = {
  /** Throws 429 or 503 when there are too many streams. Returns a function that removes the stream. */
  add(stream: EventStream): () => void
  list(): EventStream[]
  hasProject(projectId: string): boolean
  endAll(): void
}

/** The open streams of this process, with limits for each key and project. `onChange`: after a stream was added or removed. */
export function createStreamRegistry(onChange: (count: number) => void): StreamRegistry {
  const streams = new Set<EventStream>()
  const byKey = createKeyCounter()
  const byProject = createKeyCounter()
  let isStopping = false
  return {
    add(stream) {
      const { keyId, projectId } = stream
      if (isStopping || streams.size >= MAX_STREAMS) throw tooBusy('this process has too many open event streams')
      if (byKey.get(keyId) >= MAX_STREAMS_PER_KEY)
        throw rateLimited(`more than ${MAX_STREAMS_PER_KEY} open event streams with this API key`, RETRY_AFTER_S)
      if (byProject.get(projectId) >= MAX_STREAMS_PER_PROJECT)
        throw rateLimited(`more than ${MAX_STREAMS_PER_PROJECT} open event streams in this project`, RETRY_AFTER_S)
      const count = (change: 1 | -1) => {
        byKey.add(keyId, change)
        byProject.add(projectId, change)
        onChange(streams.size)
      }
      streams.add(stream)
      count(1)
      return () => {
        if (streams.delete(stream)) count(-1)
      }
    },
    list: () => [...streams],
    hasProject: projectId => byProject.get(projectId) > 0,
    endAll() {
      isStopping = true
      for (const stream of streams) stream.end('stopping')
    },
  }
}
