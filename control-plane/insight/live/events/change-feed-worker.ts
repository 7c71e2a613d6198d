import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, monotonicMs, sleep } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { buildBoardJson } from '../board/board-body.ts'
import type { BoardReader } from '../board/board-reader.ts'
import { readChanges } from '../change-store.ts'
import type { ProjectChanges } from '../changes.ts'
import { type ClientPosition, formatPosition, formatRegions, isContinuable } from '../position.ts'
import { buildBoardEvent, buildRecordEvents, identifyLast, MAX_BOARD_LENGTH, MAX_BOARD_ROWS } from './change-events.ts'
import { formatEvent, type StreamEvent } from './event-text.ts'
import type { EventStream, StreamRegistry } from './stream-registry.ts'

/** The longest delay after a lost NOTIFY. */
const POLL_INTERVAL_MS = 5_000
/** Changes of this time become one event of each kind. */
const MIN_ROUND_GAP_MS = 250

type FeedTools = LoopTools & {
  db: Db
  boards: BoardReader
  registry: StreamRegistry
  readRegionsWithoutProbe: () => Promise<readonly string[]>
  readUnreadSince: (projectId: string) => Promise<Date | null>
}

/** Streams that have seen the same, so that they receive the same. */
type StreamGroup = { projectId: string; position: ClientPosition | null; version: number; streams: EventStream[] }
type FeedRound = { position: ClientPosition; regions: readonly string[] } & Pick<FeedTools, 'readUnreadSince'>

/**
 * Sends what changed in the projects that are watched: one query of the log for all of them, and the changed rows of the
 * board for each project. Without streams a round reads nothing. Call `wake` on NOTIFY "project_changes" of a watched project.
 */
export function startChangeFeed({
  db,
  boards,
  registry,
  readRegionsWithoutProbe,
  readUnreadSince,
  ...tools
}: FeedTools): Loop {
  const sent = tools.metrics.counter('picket_event_stream_events_total', 'Events sent on event streams', ['event'])
  let endedMs = Number.NEGATIVE_INFINITY

  return startLoop('change-feed', POLL_INTERVAL_MS, tools, async signal => {
    await sleep(Math.max(0, endedMs + MIN_ROUND_GAP_MS - monotonicMs()), signal)
    if (signal.aborted) return
    const groups = groupStreams(registry.list())
    if (groups.length === 0) return
    const version = boards.version()
    const ranges = groups.map(({ projectId, position }) => ({ projectId, since: position?.snapshot ?? null }))
    const { position: logged, changes } = await readChanges(db, ranges)
    const regions = await readRegionsWithoutProbe()
    const position = { ...logged, regions: formatRegions(regions) }
    const round = { position, regions, readUnreadSince }
    const faults: unknown[] = []
    for (const [i, group] of groups.entries()) {
      // a project whose board cannot be read does not stop the others; its streams stay where they are
      const events = await buildEvents(boards, group, changes[i]!, round).catch((error: unknown) => faults.push(error))
      if (typeof events === 'number') continue
      for (const { event } of events) sent.inc({ event }, group.streams.length)
      for (const stream of group.streams) sendEvents(stream, events, position, version)
    }
    if (faults.length > 0) throw faults[0]
    endedMs = monotonicMs()
  })
}

function groupStreams(streams: EventStream[]): StreamGroup[] {
  const groups = new Map<string, StreamGroup>()
  for (const stream of streams) {
    const { projectId, position, version } = stream
    const key = `${projectId} ${position?.snapshot} ${position?.regions} ${version}`
    const group = groups.get(key) ?? { projectId, position, version, streams: [] }
    group.streams.push(stream)
    groups.set(key, group)
  }
  return [...groups.values()]
}

async function buildEvents(
  boards: BoardReader,
  group: StreamGroup,
  changes: ProjectChanges,
  round: FeedRound,
): Promise<StreamEvent[]> {
  if (group.position === null) return []
  if (!isContinuable(group.position, round.position)) return [buildResetEvent('unknown_position')]
  const areRegionsNew = group.position.regions !== round.position.regions
  const board = areRegionsNew
    ? [buildBoardEvent(null)]
    : await buildBoard(boards, group, changes.get('monitor') ?? [], round)
  return [...board, ...buildRecordEvents(changes)]
}

async function buildBoard(
  boards: BoardReader,
  { projectId, version }: StreamGroup,
  ids: string[],
  { position, regions, readUnreadSince }: FeedRound,
): Promise<StreamEvent[]> {
  if (ids.length > MAX_BOARD_ROWS) return [buildBoardEvent(null)]
  if (ids.length === 0) return []
  const board = await boards.read(projectId)
  const changed = ids.filter(id => (board.rows.get(id)?.version ?? Number.POSITIVE_INFINITY) > version)
  if (changed.length === 0) return []
  const unreadSince = await readUnreadSince(projectId)
  const scope = { projectId, position, ids: changed, regionsWithoutProbe: regions, unreadSince }
  const json = await buildBoardJson(board, scope, createYieldPoint())
  return [buildBoardEvent(json.length > MAX_BOARD_LENGTH ? null : json)]
}

const buildResetEvent = (reason: string): StreamEvent => ({ event: 'reset', data: JSON.stringify({ reason }) })

/** Writes the events, after the greeting of a new stream. What follows continues at `position`. */
function sendEvents(stream: EventStream, events: StreamEvent[], position: ClientPosition, version: number): void {
  const { greeting } = stream
  const first =
    greeting === null || events[0]?.event === 'reset'
      ? []
      : 'reason' in greeting
        ? [buildResetEvent(greeting.reason)]
        : [{ event: 'ready', data: JSON.stringify(greeting) }]
  Object.assign(stream, { greeting: null, position, version })
  const all = identifyLast([...first, ...events], formatPosition(position, stream.projectId))
  if (all.length > 0) stream.write(all.map(formatEvent).join(''))
}
