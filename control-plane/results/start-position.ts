import type { OwnedPartition } from './store.ts'

/** How long before the position results are read again for their fences (decisions 4.6): JetStream's own window. */
const RECALL_MS = 120_000

export type Start = {
  /** what lies beyond it has not been counted */
  position: number
  positionAtMs: number | null
  from: { sequence: number } | { timeMs: number }
}

/**
 * Where to begin to read. A stream that was made anew, or that has lost its end, has never held what the stored
 * position stands for, so everything in it that lies beyond what it can have in common with the old one counts.
 */
export function startOf(partition: OwnedPartition, stream: { created: string; lastSequence: number }): Start {
  if (partition.streamCreated !== stream.created) return { position: 0, positionAtMs: null, from: { sequence: 1 } }
  const position = Math.min(partition.position, stream.lastSequence)
  const { positionAtMs } = partition
  const from = positionAtMs === null ? { sequence: position + 1 } : { timeMs: positionAtMs - RECALL_MS }
  return { position, positionAtMs, from }
}
