import type { OwnedPartition } from './store.ts'

/** How long before the position results are read again for their fences (decisions 4.6): JetStream's own window. */
const RECALL_MS = 120_000

export type Start = {
  /** the newest message that has been counted; 0 and null: none */
  position: number
  positionAtMs: number | null
  from: { sequence: number } | { timeMs: number }
  /** the message at the position is the one that was counted, so all before it were, whatever their times say */
  isFound: boolean
}

/** `lastAtMs`: when its newest message was taken. */
export type StreamState = { created: string; firstSequence: number; lastSequence: number; lastAtMs: number }

/** Where a checkpoint was made. */
export type Mark = { streamCreated: string; sequence: number; takenAtMs: number }

/** `mark`: of the newest checkpoint. `foundAtMs`: when the message at the position was taken; null: there is none any more. */
type Known = { mark: Mark | null; foundAtMs: number | null }

/**
 * Where to begin to read: at the time of the checkpoint where there is a young one, with `isMarked`; else two minutes
 * before the position. By time, because a stream that has lost its end gives the same sequences out again. What the
 * stored position stands for was never in a stream that was made again.
 */
export function startOf(
  partition: OwnedPartition,
  stream: StreamState,
  { mark, foundAtMs }: Known,
): Start & { isMarked: boolean } {
  const { position, positionAtMs } = partition
  const unmarked = { isFound: false, isMarked: false }
  if (partition.streamCreated !== stream.created) {
    return { position: 0, positionAtMs: null, from: { sequence: 1 }, ...unmarked }
  }
  if (positionAtMs === null) return { position, positionAtMs, from: { sequence: position + 1 }, ...unmarked }
  const isFound = foundAtMs === positionAtMs
  const isMarked =
    mark !== null &&
    mark.streamCreated === stream.created &&
    mark.sequence <= position &&
    mark.takenAtMs <= positionAtMs &&
    mark.takenAtMs > positionAtMs - RECALL_MS
  // after its clock was set back JetStream finds no place by a later time, and would begin at its end
  const isSetBack = isFound && stream.lastAtMs < positionAtMs
  const timeMs = isMarked ? mark.takenAtMs : positionAtMs - RECALL_MS
  return { position, positionAtMs, from: isSetBack ? { sequence: position + 1 } : { timeMs }, isFound, isMarked }
}

/**
 * Whether a message was counted before this start. A stream that has lost its end in a crash gives the same sequences
 * out again, but never the same times.
 */
export function isCounted(
  { position, positionAtMs, isFound }: Start,
  message: { sequence: number; takenAtMs: number },
): boolean {
  return message.sequence <= position && (isFound || positionAtMs === null || message.takenAtMs <= positionAtMs)
}

/**
 * How many messages, of all partitions, left the stream after the stored position, by age or to make room. Some of them
 * may have been this partition's.
 */
export function droppedSince({ position }: Start, { firstSequence }: StreamState): number {
  return position === 0 ? 0 : Math.max(0, firstSequence - position - 1)
}
