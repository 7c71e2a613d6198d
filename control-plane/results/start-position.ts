import type { OwnedPartition } from './store.ts'

/** How long before the position results are read again for their fences (decisions 4.6): JetStream's own window. */
const RECALL_MS = 120_000

export type Start = {
  /** the newest message that has been counted; 0 and null: none */
  position: number
  positionAtMs: number | null
  from: { sequence: number } | { timeMs: number }
}

export type StreamState = { created: string; firstSequence: number; lastSequence: number }

/** Where to begin to read. What the stored position stands for was never in a stream that was made anew. */
export function startOf(partition: OwnedPartition, stream: StreamState): Start {
  const { position, positionAtMs } = partition
  if (partition.streamCreated !== stream.created) return { position: 0, positionAtMs: null, from: { sequence: 1 } }
  const from = positionAtMs === null ? { sequence: position + 1 } : { timeMs: positionAtMs - RECALL_MS }
  return { position, positionAtMs, from }
}

/**
 * Whether a message was counted before this start. A stream that has lost its end in a crash gives the same sequences
 * out again, but never the same times.
 */
export function isCounted(
  { position, positionAtMs }: Start,
  message: { sequence: number; takenAtMs: number },
): boolean {
  return message.sequence <= position && (positionAtMs === null || message.takenAtMs <= positionAtMs)
}

/**
 * How many messages, of all partitions, left the stream after the stored position, by age or to make room. Some of them
 * may have been this partition's.
 */
export function droppedSince({ position }: Start, { firstSequence }: StreamState): number {
  return position === 0 ? 0 : Math.max(0, firstSequence - position - 1)
}
