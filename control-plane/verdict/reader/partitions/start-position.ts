import type { OwnedPartition } from './partition-store.ts'

/** How long before the position results are read again at least, for their fences (decisions 4.6): JetStream's own window. */
const MIN_REPLAY_MS = 120_000
/** At most: as long as votes of monitors live that are checked every 5 minutes. */
const MAX_REPLAY_MS = 16 * 60_000

/**
 * How long before the position results are read again without a checkpoint. Twice the lifetime of a vote (`voteMs`):
 * then those that may still count are known, and when the ones before ended, because a hold begins then.
 */
export const computeReplayMs = (voteMs: number): number => Math.min(Math.max(2 * voteMs, MIN_REPLAY_MS), MAX_REPLAY_MS)

export type StartPosition = {
  /** the newest message that has been counted; 0 and null: none */
  position: number
  positionAtMs: number | null
  from: { sequence: number } | { timeMs: number }
  /** the message at the position is the one that was counted, so all before it were, whatever their times say */
  isFound: boolean
  /** memory begins with the checkpoint */
  isMarked: boolean
  /** what was taken earlier and is not stored is not known; null: everything is, but for a gap in the stream */
  knownFromMs: number | null
}

/** `lastAtMs`: when its newest message was taken. */
export type StreamBounds = { created: string; firstSequence: number; lastSequence: number; lastAtMs: number }

/** Where a checkpoint was made. */
export type CheckpointPosition = { streamCreated: string; sequence: number; takenAtMs: number }

/**
 * `mark`: of the newest checkpoint. `foundAtMs`: when the message at the position was taken; null: there is none any more.
 * `voteMs`: the longest lifetime of a vote in the partition.
 */
type StartFacts = { mark: CheckpointPosition | null; foundAtMs: number | null; voteMs: number }

/**
 * Where to begin to read: at the time of the checkpoint where there is a young one, with `isMarked`; else so long before
 * the position that the votes are known. By time, because a stream that has lost its end gives the
 * same sequences out again. What the stored position refers to was never in a stream that was made again, but the
 * checkpoint belongs to the stored states.
 */
export function computeStartPosition(
  partition: OwnedPartition,
  stream: StreamBounds,
  { mark, foundAtMs, voteMs }: StartFacts,
): StartPosition {
  const { position, positionAtMs } = partition
  const earliestMs = positionAtMs === null ? Number.NEGATIVE_INFINITY : positionAtMs - computeReplayMs(voteMs)
  const isMarked = mark !== null && belongsToPartition(partition, mark) && mark.takenAtMs > earliestMs
  const unread = { isFound: false, isMarked, knownFromMs: isMarked ? null : positionAtMs }
  if (partition.streamCreated !== stream.created) {
    return { position: 0, positionAtMs: null, from: { sequence: 1 }, ...unread }
  }
  if (positionAtMs === null) return { position, positionAtMs, from: { sequence: position + 1 }, ...unread }
  const isFound = foundAtMs === positionAtMs
  // after its clock was set back JetStream finds no place by a later time, and would begin at its end
  const isSetBack = isFound && stream.lastAtMs < positionAtMs
  if (isSetBack) return { position, positionAtMs, from: { sequence: position + 1 }, ...unread, isFound }
  const timeMs = isMarked ? mark.takenAtMs : earliestMs
  return { position, positionAtMs, from: { timeMs }, isFound, isMarked, knownFromMs: isMarked ? null : timeMs }
}

/** Where nothing of a stream was counted yet, the newest checkpoint is the one of the stream before. */
function belongsToPartition(
  { position, positionAtMs, streamCreated }: OwnedPartition,
  mark: CheckpointPosition,
): boolean {
  if (positionAtMs === null) return mark.streamCreated !== streamCreated
  return mark.streamCreated === streamCreated && mark.sequence <= position && mark.takenAtMs <= positionAtMs
}

/**
 * Whether a message was counted before this start. A stream that has lost its end in a crash gives the same sequences
 * out again, but never the same times.
 */
export function isAlreadyCounted(
  { position, positionAtMs, isFound }: StartPosition,
  message: { sequence: number; takenAtMs: number },
): boolean {
  return message.sequence <= position && (isFound || positionAtMs === null || message.takenAtMs <= positionAtMs)
}

/**
 * How many messages, of all partitions, left the stream after the stored position, by age or to make room. Some of them
 * may have been this partition's.
 */
export function countDroppedMessages({ position }: StartPosition, { firstSequence }: StreamBounds): number {
  return position === 0 ? 0 : Math.max(0, firstSequence - position - 1)
}
