import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { LoopTools } from '../../foundation/platform/time/loop.ts'
import { type BoardReader, createBoardReader } from './board/board-reader.ts'
import { createRegionsReader } from './board/regions-reader.ts'
import { createUnreadReader } from './board/unread-reader.ts'
import { startChangeFeed } from './events/change-feed-worker.ts'
import { startKeepAlive } from './events/keep-alive-worker.ts'
import { createStreamRegistry, type StreamRegistry } from './events/stream-registry.ts'

/** What the routes of boards and events share with the loops of their process. */
export type Live = {
  boards: BoardReader
  readRegionsWithoutProbe: () => Promise<readonly string[]>
  readUnreadSince: (projectId: string) => Promise<Date | null>
  registry: StreamRegistry
  /** Sends changes now, to new streams as well. */
  wake(): void
  /** Starts the loops. `onChange`: on each NOTIFY with the id of a project, or '' when some may be lost. */
  start(): { stop(): Promise<unknown>; onChange(projectId: string): void }
}

/** Boards and event streams of a process (docs/design/live.md). Reads nothing until there is a request. */
export function createLive({ db, ...tools }: LoopTools & { db: Db }): Live {
  const open = tools.metrics.gauge('picket_event_streams', 'Open event streams')
  const registry = createStreamRegistry(count => open.set({}, count))
  const boards = createBoardReader({ db, metrics: tools.metrics })
  const readRegionsWithoutProbe = createRegionsReader(db)
  const readUnreadSince = createUnreadReader(db)
  let wake = () => {}
  return {
    boards,
    readRegionsWithoutProbe,
    readUnreadSince,
    registry,
    wake: () => wake(),
    start() {
      const feed = startChangeFeed({ db, boards, registry, readRegionsWithoutProbe, readUnreadSince, ...tools })
      const keepAlive = startKeepAlive({ registry, ...tools })
      wake = feed.wake
      return {
        stop: () => Promise.all([feed.stop(), keepAlive.stop()]),
        onChange(projectId) {
          if (projectId === '' || registry.hasProject(projectId)) feed.wake()
        },
      }
    },
  }
}
