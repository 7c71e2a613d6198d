import { CHANGE_KINDS, type ChangeKind, type ProjectChanges } from '../changes.ts'
import type { StreamEvent } from './event-text.ts'

/** An event has at most this many ids; beyond that, the client reads the list again. */
const MAX_IDS = 100
/** An event has at most this many rows of the board; beyond that, the client reads the board by `since`. */
export const MAX_BOARD_ROWS = 200
/** A longer event would need too much of the buffer of a stream. */
export const MAX_BOARD_LENGTH = 128 * 1024

/** The events of the changed records other than monitors, in a fixed order. `ids` is null when there are many. */
export function buildRecordEvents(changes: ProjectChanges): StreamEvent[] {
  return CHANGE_KINDS.filter(kind => kind !== 'monitor').flatMap((kind: ChangeKind) => {
    const ids = changes.get(kind) ?? []
    if (ids.length === 0) return []
    return [{ event: kind, data: JSON.stringify({ ids: ids.length > MAX_IDS ? null : ids }) }]
  })
}

/** `board`: the JSON of the changed rows; null: read them with `since`. */
export const buildBoardEvent = (board: string | null): StreamEvent => ({
  event: 'board',
  data: `{"changes":${board ?? 'null'}}`,
})

/** Gives the position to the last event, so that a client that receives only some of them receives all of them again. */
export function identifyLast(events: StreamEvent[], id: string): StreamEvent[] {
  return events.map((event, i) => (i === events.length - 1 ? { ...event, id } : event))
}
