import type { OwnedPartition } from './partition-store.ts'

/** Results are read again from at least this long before the position: JetStream's duplicate window. */
const MIN_REPLAY_MS = 120_000
/** At most this long: the lifetime of votes of monitors that are checked every 5 minutes. */
const MAX_REPLAY_MS = 16 * 60_000

/**
 * How long before the position results are read again without a checkpoint: twice the lifetime of a vote (`voteMs`). So
 * the votes that may still count are known, and also when the votes before them expired, because a hold begins then.
 */
const computeReplayMs = (voteMs: number): number => Math.min(Math.max(2 * voteMs, MIN_REPLAY_MS), MAX_REPLAY_MS)

export type StartPosition = {
  /** the newest message that has been counted; 0 and null: none */
  position: number
  positionAtMs: number | null
  from: { sequence: number } | { timeMs: number }
  /** the message at the position is the counted one, so all messages before it were counted, whatever their times */
  isFound: boolean
  /** memory is loaded from the checkpoint */
  isMarked: boolean
  /** earlier results that are not stored are unknown; null: all results are known, except for a gap in the stream */
  knownFromMs: number | null
}

/** `lastAtMs`: when its newest message was taken. */
export type StreamBounds = { created: string; firstSequence: number; lastSequence: number; lastAtMs: number }

/** The position of a checkpoint. */
export type CheckpointPosition = { streamCreated: string; sequence: number; takenAtMs: number }

/**
 * `mark`: the position of the newest checkpoint. `foundAtMs`: when the message at the stored position was taken; null
 * if the message is gone. `voteMs`: the longest lifetime of a vote in the partition.
 */
type StartFacts = { mark: CheckpointPosition | null; foundAtMs: number | null; voteMs: number }

/**
 * Where to begin to read: at the time of a recent checkpoint (`isMarked`), otherwise so long before the position that
 * the votes are known. Reading starts at a time and not at a sequence, because a stream that lost its end assigns the
 * same sequences again. A stream that was created again does not contain the stored position, but the checkpoint still
 * belongs to the stored states.
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
  // after its clock was set back, JetStream finds no message at a later time and would begin at the end
  const isSetBack = isFound && stream.lastAtMs < positionAtMs
  if (isSetBack) return { position, positionAtMs, from: { sequence: position + 1 }, ...unread, isFound }
  const timeMs = isMarked ? mark.takenAtMs : earliestMs
  return { position, positionAtMs, from: { timeMs }, isFound, isMarked, knownFromMs: isMarked ? null : timeMs }
}

/** If nothing of this stream was counted yet, the newest checkpoint is that of the previous stream. */
function belongsToPartition(
  { position, positionAtMs, streamCreated }: OwnedPartition,
  mark: CheckpointPosition,
): boolean {
  if (positionAtMs === null) return mark.streamCreated !== streamCreated
  return mark.streamCreated === streamCreated && mark.sequence <= position && mark.takenAtMs <= positionAtMs
}

/**
 * Whether a message was counted before this start. A stream that lost its end in a crash assigns the same sequences
 * again, but never the same times.
 */
export function isAlreadyCounted(
  { position, positionAtMs, isFound }: StartPosition,
  message: { sequence: number; takenAtMs: number },
): boolean {
  return message.sequence <= position && (isFound || positionAtMs === null || message.takenAtMs <= positionAtMs)
}

/**
 * How many messages of all partitions left the stream after the stored position, by age or to make room. Some of them
 * may have belonged to this partition.
 */
export function countDroppedMessages({ position }: StartPosition, { firstSequence }: StreamBounds): number {
  return position === 0 ? 0 : Math.max(0, firstSequence - position - 1)
}
